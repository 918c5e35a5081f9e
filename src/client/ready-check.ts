import type { Client } from '@temporalio/client';
import type { Environment } from './environment-mark.js';
import { checkNamespace, sayUnreadable } from './namespace.js';
import { BILLING_TASK_QUEUE, PAYMENTS_TASK_QUEUE } from '../contract/names.js';
import { type LostTime, showLostTime } from '../domain/lost-time.js';

const WITHIN_MS = 2_000;
const KEYS_FOR_MS = 5_000;
/** Its search attributes cost a visibility query. */
const NAMESPACE_FOR_MS = 600_000;
const MAX_NAMED = 3;
const MAX_NAME = 100;

interface ReadyCheckOptions {
  /** Id of the key that the handler encrypts with. */
  keyId: string;
  /** If set, a namespace that `holdfast setup` has not made fit for this environment is a reason too. */
  environment?: Environment | undefined;
  /** Is asked why Temporal can't be reached. */
  why?: () => Promise<string | undefined>;
  /** Gets a line when the answer to "do the workers have the key" changes. */
  logger?: Record<'info' | 'error', (fields: object, message: string) => void>;
  /** How long the announced key ids are cached, in ms. */
  keysForMs?: number;
}

/** True, or a sentence that says why the handler must not get events now. */
export type ReadyCheck = () => Promise<true | string>;

/**
 * Checks that Temporal answers, that the namespace is fit for the environment, and that every live worker can decrypt the handler's events: a single worker without the
 * key holds up flows. The handler is also ready when no worker polls, because Temporal keeps events until one does.
 * Concurrent checks share one call to keep them cheap.
 */
export function createReadyCheck(
  client: Client,
  { keyId, environment, why, logger, keysForMs = KEYS_FOR_MS }: ReadyCheckOptions,
): ReadyCheck {
  const { namespace } = client.options;
  const tell = tellChanges(keyId, logger);
  let keys: { answer: true | string; until: number } | undefined;
  let asked: Promise<true | string> | undefined;

  async function askForKeys(): Promise<true | string> {
    if (keys !== undefined && performance.now() < keys.until) return keys.answer;
    const workers = await announcedKeys(client);
    const without = workers.filter(({ keyIds }) => !keyIds.includes(keyId));
    const answer = without.length === 0 || sayWithout(keyId, without);
    tell(workers.length === 0 ? 'no worker' : answer);
    keys = { answer, until: performance.now() + keysForMs };
    return answer;
  }
  let rightUntil = 0;
  let saidUnchecked: string | undefined;
  async function askForNamespace(): Promise<true | string> {
    if (environment === undefined || performance.now() < rightUntil) {
      await client.workflowService.describeNamespace({ namespace });
      return true;
    }
    const { faults, unchecked } = await checkNamespace(client.connection, namespace, environment, {
      withinMs: WITHIN_MS,
      ...(why !== undefined && { why }),
    });
    if (faults.length > 0) return faults.join(' ');
    if (unchecked === undefined) rightUntil = performance.now() + NAMESPACE_FOR_MS;
    else if (unchecked !== saidUnchecked) logger?.error({ namespace }, unchecked);
    saidUnchecked = unchecked;
    return true;
  }
  const ask = async (): Promise<true | string> => {
    const answer = await askForNamespace();
    return answer === true ? await askForKeys() : answer;
  };
  return () => {
    asked ??= client.connection
      .withDeadline(Date.now() + WITHIN_MS, ask)
      .catch(async (error: unknown) => sayUnreadable(error, namespace, await why?.()))
      .finally(() => (asked = undefined));
    return asked;
  };
}

function sayWithout(keyId: string, workers: readonly AnnouncedKeys[]): string {
  const named = workers.slice(0, MAX_NAMED).map(({ name, keyIds }) => {
    const worker = name.slice(0, MAX_NAME);
    return keyIds.length === 0 ? `${worker} (which announces no keys: an older build?)` : worker;
  });
  if (workers.length > MAX_NAMED) named.push(`${workers.length - MAX_NAMED} more`);
  return (
    `key "${keyId}", with which this handler encrypts, is not announced by worker ${named.join(', ')}: flows would wait there. ` +
    `Add it behind the first key of every worker, or put a key that they all have in front here. A worker that has ` +
    'stopped counts for 5 minutes more.'
  );
}

function tellChanges(keyId: string, logger: ReadyCheckOptions['logger']): (state: true | string) => void {
  let logged: true | string = true;
  return (state) => {
    if (state === logged) return;
    logged = state;
    if (state === true) logger?.info({ keyId }, 'Every worker has the key that this handler encrypts with');
    else if (state === 'no worker') {
      logger?.info(
        { keyId },
        'No worker polls, so that nobody says which keys there are: ready, Temporal keeps what comes',
      );
    } else logger?.error({ keyId, reason: state }, 'Not ready: a worker lacks the key that this handler encrypts with');
  };
}

/** The server rejects polls of a worker with a longer identity. */
const MAX_IDENTITY = 1000;
/** Enum value of the Temporal protocol. Every Holdfast worker polls for workflow and activity tasks. */
const TASK_QUEUE_TYPE_WORKFLOW = 1;
const QUEUES = [PAYMENTS_TASK_QUEUE, BILLING_TASK_QUEUE];

interface AnnouncedKeys {
  /** Process and host of the worker. */
  name: string;
  /** Ids of the keys that the worker can decode with; empty for an older build. */
  keyIds: readonly string[];
  /** The lost time of a restore that the worker is told of, as `showLostTime` writes it. */
  restoredTo?: string;
}

/**
 * Identity of a worker in Temporal. It announces the worker's key ids, and the lost time of a restore, to every client
 * and needs no write permission. The server drops it 5 minutes after the worker's last poll. Ids that do not fit are cut
 * from the end.
 */
export function announcingIdentity(name: string, keyIds: readonly string[], lost?: LostTime): string {
  const restored = lost === undefined ? '' : ` restored=${showLostTime(lost)}`;
  const identity = `${name}${restored} keys=${keyIds.join(',')}`;
  return identity.length <= MAX_IDENTITY ? identity : identity.slice(0, identity.lastIndexOf(',', MAX_IDENTITY));
}

/** Every worker that has polled one of the queues in the last 5 minutes. */
export async function announcedKeys(
  { workflowService, options }: Client,
  queues: readonly string[] = QUEUES,
): Promise<AnnouncedKeys[]> {
  const { namespace } = options;
  const described = await Promise.all(
    queues.map((name) =>
      workflowService.describeTaskQueue({ namespace, taskQueue: { name }, taskQueueType: TASK_QUEUE_TYPE_WORKFLOW }),
    ),
  );
  const identities = described.flatMap(({ pollers }) => (pollers ?? []).map(({ identity }) => identity ?? ''));
  return [...new Set(identities)].toSorted().map((identity) => {
    const [announced = '', keys = ''] = identity.split(/ keys=([\w.,-]*)$/);
    const [name = '', restoredTo] = announced.split(/ restored=(\S+)$/);
    return { name, keyIds: keys === '' ? [] : keys.split(','), ...(restoredTo !== undefined && { restoredTo }) };
  });
}
