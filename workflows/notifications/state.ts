import { setCurrentDetails, setHandler } from '@temporalio/workflow';
import {
  type Delivery,
  handOverSchema,
  type KeptNotification,
  type SentNotifications,
} from '../../src/contract/notifications.js';
import { isSealed } from '../../src/contract/payload-marks.js';
import { readableOrRetry } from '../kit/decoded-or-retry.js';
import { countUnknownSignals, ignore } from '../kit/run.js';
import { explainQuery, notificationsQuery, notifySignal } from '../messages.js';

/** What the next run of a long one needs. */
export interface Carried {
  v: typeof CARRIED_VERSION;
  kept: KeptNotification[];
}

export const CARRIED_VERSION = 1;

/** What one run of the flow `notifications` knows. */
export interface Sending extends Pick<Carried, 'kept'> {
  readonly workflowId: string;
  /** First tries that are under way or wait for the one before. */
  firstTries: number;
  /** By endpoint: ends with the last first try, which the next one waits for. */
  readonly lanes: Map<string, Promise<void>>;
  readonly ignored: Record<string, number>;
}

export function newSending({ workflowId }: { workflowId: string }, carried: Carried | undefined): Sending {
  // A copy, because the engine's object must not be changed.
  const { kept } = JSON.parse(JSON.stringify(carried ?? { kept: [] })) as Pick<Carried, 'kept'>;
  return { workflowId, kept, firstTries: 0, lanes: new Map(), ignored: {} };
}

/** Beyond it those that are settled go, oldest first. What waits for an endpoint is never dropped. */
const MOST_KEPT = 200;

export function carriedOf({ kept }: Sending): Carried {
  return { v: CARRIED_VERSION, kept };
}

/** @param tryAgain sends a notification to an endpoint once more */
export function registerHandlers(sending: Sending, tryAgain: TryAgain): void {
  setHandler(notifySignal, (payload) => {
    readableOrRetry(payload, 'what is to be told');
    const given = handOverSchema.safeParse(payload);
    // Only our activity encrypts it: whoever has access to Temporal could have anything signed otherwise.
    if (!isSealed(payload)) ignore(sending, 'notificationInClear');
    else if (!given.success || given.data.workflowId !== sending.workflowId) ignore(sending, 'malformedNotification');
    else take(sending, given.data, tryAgain);
  });
  setHandler(notificationsQuery, () => presentSending(sending), { description: 'What was sent, and who has taken it' });
  setHandler(explainQuery, () => explain(sending), { description: 'What is under way, in a sentence' });
  countUnknownSignals(sending);
}

type Given = Extract<ReturnType<typeof handOverSchema.safeParse>, { success: true }>['data'];

type TryAgain = (kept: KeptNotification, delivery: Delivery) => void;

function take(sending: Sending, { businessUnit, url, notifications, again }: Given, tryAgain: TryAgain): void {
  for (const notification of notifications) {
    const known = sending.kept.findIndex(({ id }) => id === notification.id);
    // A flow hands over again what a lost reply or a reset makes it doubt.
    if (known >= 0 && again !== true) ignore(sending, 'knownNotification');
    else if (known >= 0 && !isDone(sending.kept[known] as KeptNotification))
      takeUp(sending, sending.kept[known] as KeptNotification, tryAgain);
    else {
      if (known >= 0) sending.kept.splice(known, 1);
      sending.kept.push({ ...notification, businessUnit, ...(url !== undefined && { url }) });
    }
  }
  const done = sending.kept.filter(isDone);
  const tooMany = new Set(done.slice(0, Math.max(0, sending.kept.length - MOST_KEPT)));
  sending.kept = sending.kept.filter((kept) => !tooMany.has(kept));
}

/** While one endpoint is still being tried, those that were given up are tried again. */
function takeUp(sending: Sending, kept: KeptNotification, tryAgain: TryAgain): void {
  const givenUp = kept.deliveries?.filter(({ status }) => status === 'givenUp') ?? [];
  if (givenUp.length === 0) ignore(sending, 'notificationUnderWay');
  for (const delivery of givenUp) tryAgain(kept, delivery);
}

function isDone({ deliveries }: KeptNotification): boolean {
  return deliveries !== undefined && deliveries.every(({ status }) => status !== 'waiting');
}

/** True once every notification is taken or given up. */
export function isSettled({ kept }: Sending): boolean {
  return kept.every(isDone);
}

export function presentSending({ workflowId, kept }: Sending): SentNotifications {
  return { workflowId, notifications: kept };
}

export function showSending(sending: Sending): void {
  setCurrentDetails(explain(sending));
}

function explain({ workflowId, kept }: Sending): string {
  const deliveries = kept.flatMap((one) => one.deliveries ?? []);
  const count = (status: string): number => deliveries.filter((one) => one.status === status).length;
  const waiting = deliveries.filter(({ status, why }) => status === 'waiting' && why !== undefined);
  const given = count('givenUp');
  return [
    `Notifications of ${workflowId}: ${kept.length} to tell, ${count('delivered')} taken, ${count('waiting')} under way, ${given} given up.`,
    ...waiting.slice(0, 1).map(({ url, why }) => `${url} has not taken one yet: ${why}; it is tried again.`),
    given === 0
      ? 'Nothing to do.'
      : 'What was given up is sent once more by `holdfast notifications resend`, once its endpoint is mended.',
  ].join(' ');
}
