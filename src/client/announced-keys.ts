import type { Client } from '@temporalio/client';
import { BILLING_TASK_QUEUE, PAYMENTS_TASK_QUEUE } from '../contract/names.js';

/** The server rejects polls of a worker with a longer identity. */
const MAX_IDENTITY = 1000;
/** Enum value of the Temporal protocol. Every Holdfast worker polls for workflow and activity tasks. */
const TASK_QUEUE_TYPE_WORKFLOW = 1;
const QUEUES = [PAYMENTS_TASK_QUEUE, BILLING_TASK_QUEUE];

export interface AnnouncedKeys {
  /** Process and host of the worker. */
  name: string;
  /** Ids of the keys that the worker can decode with; empty for an older build. */
  keyIds: readonly string[];
}

/**
 * Identity of a worker in Temporal. It announces the worker's key ids to every client and needs no write permission.
 * The server drops it 5 minutes after the worker's last poll. Ids that do not fit are cut from the end.
 */
export function announcingIdentity(name: string, keyIds: readonly string[]): string {
  const identity = `${name} keys=${keyIds.join(',')}`;
  return identity.length <= MAX_IDENTITY ? identity : identity.slice(0, identity.lastIndexOf(',', MAX_IDENTITY));
}

/** Every worker that has polled a queue of Holdfast in the last 5 minutes. */
export async function announcedKeys({ workflowService, options }: Client): Promise<AnnouncedKeys[]> {
  const { namespace } = options;
  const described = await Promise.all(
    QUEUES.map((name) =>
      workflowService.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType: TASK_QUEUE_TYPE_WORKFLOW }),
    ),
  );
  const identities = described.flatMap(({ pollers }) => (pollers ?? []).map(({ identity }) => identity ?? ''));
  return [...new Set(identities)].toSorted().map((identity) => {
    const [name = '', keys = ''] = identity.split(/ keys=([\w.,-]*)$/);
    return { name, keyIds: keys === '' ? [] : keys.split(',') };
  });
}
