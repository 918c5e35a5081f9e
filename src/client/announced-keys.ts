import type { Client } from '@temporalio/client';
import { BILLING_TASK_QUEUE, PAYMENTS_TASK_QUEUE } from '../contract/names.js';

/** The server takes no poll of a worker with a longer identity. */
const MAX_IDENTITY = 1000;
/** The protocol's number. Every worker of ours polls for both kinds. */
const TASK_QUEUE_TYPE_WORKFLOW = 1;
const QUEUES = [PAYMENTS_TASK_QUEUE, BILLING_TASK_QUEUE];

export interface AnnouncedKeys {
  /** The worker, as its process and host. */
  name: string;
  /** Ids of the keys that it can decode with; none where it is of an older build. */
  keyIds: readonly string[];
}

/**
 * What a worker is called in Temporal: with its identity it tells the ids of its keys to every client, and needs no right to
 * write. Each worker tells its own, and the server forgets it 5 minutes after its last poll. Of more ids than fit the last
 * ones are left out.
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
