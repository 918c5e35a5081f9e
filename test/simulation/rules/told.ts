import { verifyNotification, type VerifiedNotification } from '../../../src/client/index.js';
import { notificationsWorkflowId, QUERY_NAMES } from '../../../src/contract/names.js';
import type { SentNotifications } from '../../../src/contract/notifications.js';
import { NOTIFY_SECRET } from '../../support/telling.js';
import type { SimulatedTime } from '../simulated-time.js';

export const MERCHANT = 'http://merchant.test';

/** A POST to the merchant whose signature is verified. */
export interface Told {
  path: string;
  notification: VerifiedNotification;
  /** What the merchant has answered. */
  status: number;
}

/** The merchant's addresses. Every POST is verified, and answered with the status that `answers` says. */
export function listenToAll(
  time: SimulatedTime,
  answers: (told: Omit<Told, 'status'>) => number = () => 200,
  secrets: string | readonly string[] = NOTIFY_SECRET,
): Told[] {
  const all: Told[] = [];
  time.simulation.world.network.attach(MERCHANT, async ({ path, headers, body = '' }) => {
    const given = headers as Readonly<Record<string, string>>;
    const notification = verifyNotification({ headers: given, body: String(body) }, { secrets, now: Date.now() });
    const status = answers({ path, notification });
    all.push({ path, notification, status });
    return { status, headers: {}, body: Buffer.alloc(0) };
  });
  return all;
}

/** What a flow has told that was taken, as `payment.succeeded`. */
export function takenOf(all: readonly Told[], workflowId: string, path?: string): string[] {
  return all
    .filter(({ notification, status }) => notification.workflowId === workflowId && status === 200)
    .filter((told) => path === undefined || told.path === path)
    .map(({ notification }) => notification.type);
}

/** What the flow of its notifications says. */
export async function sentOf(
  { client }: Pick<SimulatedTime, 'client'>,
  workflowId: string,
): Promise<SentNotifications> {
  return await client.workflow.getHandle(notificationsWorkflowId(workflowId)).query(QUERY_NAMES.notifications);
}
