import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { FinalOutcome } from '../contract/outcomes.js';
import { MEMO_KEYS } from '../contract/names.js';
import { decoded } from './decoded.js';
import { HoldfastError } from './errors.js';
import { engineUnavailable, translate } from './translate-error.js';

/** Time limit for two reads of an ended flow, in ms. */
const READ_MS = 15_000;

/**
 * The result of an ended flow, for a caller who repeats the same input (money rule 2).
 * @throws HoldfastError `ReferenceConflict` for another input; the flow's own failure; `FlowStopped` when it
 * was terminated or cancelled and so has no result
 */
export async function outcomeOfEndedFlow(
  client: Client,
  workflowId: string,
  fingerprint: string,
  reference: string,
): Promise<FinalOutcome> {
  const handle = client.workflow.getHandle(workflowId);
  try {
    return await client.withDeadline(Date.now() + READ_MS, async () => {
      const { memo } = await handle.describe();
      if (decoded(memo?.[MEMO_KEYS.fingerprint]) !== fingerprint) {
        throw new HoldfastError(
          'ReferenceConflict',
          `Reference "${reference}" has already been used for another input; use a new reference`,
        );
      }
      return decoded((await handle.result()) as FinalOutcome);
    });
  } catch (error) {
    const failure = translate(error, reference);
    throw failure === 'ended' ? new HoldfastError('FlowStopped', `The flow of "${reference}" has no result`) : failure;
  }
}

const LOOK_EVERY_MS = 25;
/** A flow whose last task is run again usually ends within this. */
export const SOON_MS = 1_000;
const LAST_LOOK_MS = 2_000;

/** True as soon as the flow has closed; false when it still runs after `ms` or can't be read. */
export async function endsWithin(client: Client, workflowId: string, ms: number): Promise<boolean> {
  const end = Date.now() + ms;
  try {
    do {
      await sleep(LOOK_EVERY_MS);
      const { status } = await client.withDeadline(end + READ_MS, () =>
        client.workflow.getHandle(workflowId).describe(),
      );
      if (status.name !== 'RUNNING') return true;
    } while (Date.now() < end);
  } catch {
    return false;
  }
  return false;
}

/** Whether the flow runs with this input or has ended; undefined if it runs with another input or can't be read. */
export async function stateOf(
  client: Client,
  workflowId: string,
  fingerprint: string,
): Promise<'running' | 'ended' | undefined> {
  try {
    const { status, memo } = await client.withDeadline(Date.now() + LAST_LOOK_MS, () =>
      client.workflow.getHandle(workflowId).describe(),
    );
    if (status.name !== 'RUNNING') return 'ended';
    return memo?.[MEMO_KEYS.fingerprint] === fingerprint ? 'running' : undefined;
  } catch {
    return undefined;
  }
}

/**
 * The cause of a "not found" for an update or query: the server drops an update that arrives while its flow ends and
 * reports the update, not the flow, as not found.
 */
export async function missing(
  client: Client,
  workflowId: string,
  name: string,
  failure: HoldfastError,
): Promise<HoldfastError | 'ended'> {
  if (await endsWithin(client, workflowId, SOON_MS)) return 'ended';
  const isThere = await client
    .withDeadline(Date.now() + LAST_LOOK_MS, () => client.workflow.getHandle(workflowId).describe())
    .then(
      () => true,
      () => false,
    );
  return isThere ? engineUnavailable(name, failure.message) : failure;
}
