import { type Client, WorkflowUpdateFailedError } from '@temporalio/client';
import { messageOf } from '../contract/message-of.js';
import { startParkedEvent } from '../client/event-sink.js';
import { parkedInputOf } from '../client/parked-events.js';
import { parkedEventWorkflowId, UPDATE_NAMES } from '../contract/names.js';
import { isSealed } from '../contract/payload-marks.js';
import { hashesOfEventId, hashesThatBegin, paymentOfEventId } from './events.js';
import { isOpen } from '../client/is-open.js';

/** `woken`: looks for its flow now. `startedAgain`: looks for another 24 h. `delivered`: nothing left to do. */
export type Replay =
  | { hash: string; result: 'woken' | 'startedAgain' | 'delivered' }
  /** Nothing was changed. */
  | { hash: string; result: 'failed'; why: string };

const REPLAY_MS = 15_000;
/** Concurrent replays: after an outage there may be thousands. */
const AT_ONCE = 8;
const WHOLE = /^[0-9a-f]{64}$/;
/** Start of a hash as `events list` shows it. A shorter one could match other events. */
const BEGINNING = /^[0-9a-f]{8,63}$/;

/**
 * `holdfast events replay`: makes parked events look for their flows at once. Each is named by its hash, the first
 * digits of it (at least 8), its workflow id, or the id that the service shows. Safe at any time: a flow that already
 * has an event drops it. Does not throw if one event can't be replayed: the others are, and its result says why.
 */
export async function replayEvents(client: Client, names: readonly string[]): Promise<Replay[]> {
  const unique = [...new Set(names.map(withoutPrefix))];
  const hashes = await inLanes(unique, (name) => orWhy(name, () => wholeHash(client, name)));
  const replays = new Map<string, Replay>();
  const known = [...new Set(hashes.filter((hash) => typeof hash === 'string'))];
  for (const replayed of await inLanes(known, (hash) => replayOne(client, hash))) replays.set(replayed.hash, replayed);
  for (const hash of hashes) if (typeof hash !== 'string') replays.set(hash.hash, hash);
  // Keep the order of the arguments.
  return [...new Set(hashes.map((hash) => (typeof hash === 'string' ? hash : hash.hash)))].flatMap(
    (hash) => replays.get(hash) ?? [],
  );
}

async function inLanes<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = [];
  const rest = items.entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of rest) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return results;
}

async function replayOne(client: Client, hash: string): Promise<Replay> {
  const result = await orWhy(hash, () => client.withDeadline(Date.now() + REPLAY_MS, () => replay(client, hash)));
  return typeof result === 'string' ? { hash, result } : result;
}

async function orWhy<T>(hash: string, work: () => Promise<T>): Promise<T | Extract<Replay, { result: 'failed' }>> {
  try {
    return await work();
  } catch (error) {
    const refusal = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
    return { hash, result: 'failed', why: messageOf(refusal ?? error) };
  }
}

function withoutPrefix(name: string): string {
  const prefix = parkedEventWorkflowId('');
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

async function wholeHash(client: Client, name: string): Promise<string> {
  if (WHOLE.test(name)) return name;
  if (paymentOfEventId(name) !== undefined) {
    const [found, other] = await hashesOfEventId(client, name);
    if (found === undefined) throw new Error(`no parked event has the id ${name}; npx holdfast show finds its flow`);
    if (other !== undefined) throw new Error(`several parked events have the id ${name}: name one by its hash`);
    return found;
  }
  if (!BEGINNING.test(name)) throw new Error(`"${name.slice(0, 80)}" is not the hash of an event`);
  const [hash, another] = await hashesThatBegin(client, name);
  if (hash === undefined) throw new Error(`no parked event's hash begins with "${name}"`);
  if (another !== undefined) throw new Error(`several events begin with "${name}": give more of the hash`);
  return hash;
}

async function replay(client: Client, hash: string): Promise<'woken' | 'startedAgain' | 'delivered'> {
  const workflowId = parkedEventWorkflowId(hash);
  const { status, runId } = await client.workflow.getHandle(workflowId).describe();
  if (isOpen(status)) {
    // To its answer, which comes at once: an update that the flow refuses, such as under a key it lacks, would start as well.
    await client.workflow.getHandle(workflowId).executeUpdate(UPDATE_NAMES.retryNow, { args: [{}] });
    return 'woken';
  }
  if (status.name === 'COMPLETED' && (await statusOfResult(client, workflowId, runId)) === 'delivered') {
    return 'delivered';
  }
  await startParkedEvent(client, await parkedInputOf(client, workflowId, runId), 'again');
  return 'startedAgain';
}
async function statusOfResult(client: Client, workflowId: string, runId: string): Promise<unknown> {
  const result: unknown = await client.workflow.getHandle(workflowId, runId, { followRuns: false }).result();
  return isSealed(result) ? (result as { status?: unknown }).status : undefined;
}
