import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { FAILURE_TYPES } from '../src/contract/failure-types.js';
import type { CallOptions } from '../src/provider/index.js';
import { READ_KNOWLEDGE, toApplicationFailure } from './to-application-failure.js';

/** The activity times out after 20 s; the call ends 5 s earlier. */
const READ_HTTP_MS = 15_000;

/** Options of every read. `currency` is that of the amounts, since API version 1.0.0 names none. */
export function readOptions(currency?: string): CallOptions {
  return { timeoutMs: READ_HTTP_MS, signal: cancellationSignal(), ...(currency !== undefined && { currency }) };
}

/** Less than a third of the heartbeat timeout of reads and look-ups. */
const BEAT_MS = 3_000;

/**
 * Sends heartbeats while `work` runs, so that a read lost with its worker is retried within seconds. Reading a long
 * history takes minutes. A cancelled activity sends no more heartbeats, since nothing waits for its answer.
 */
export async function whileBeating<Answer>(work: () => Promise<Answer>): Promise<Answer> {
  const beats = activityInfo().isLocal ? undefined : setInterval(() => heartbeat(), BEAT_MS).unref();
  const stop = (): void => clearInterval(beats);
  const cancelled = cancellationSignal();
  cancelled.addEventListener('abort', stop, { once: true });
  try {
    return await work();
  } finally {
    cancelled.removeEventListener('abort', stop);
    stop();
  }
}

/** Wraps a look-up so that it sends heartbeats while it runs. */
export function beating<Deps, Call extends unknown[], Answer>(
  look: (deps: Deps, ...call: Call) => Promise<Answer>,
): (deps: Deps, ...call: Call) => Promise<Answer> {
  return (deps, ...call) => whileBeating(() => look(deps, ...call));
}

/** Sends a read: every answer is believed, and every failure is thrown with its type. */
export async function readCall<Answer>(send: () => Promise<Answer>): Promise<Answer> {
  try {
    return await whileBeating(send);
  } catch (error) {
    throw toApplicationFailure(error, READ_KNOWLEDGE);
  }
}

/** Resolves to undefined for a 404: the resource does not exist. */
export async function orNothing<Answer>(read: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ApplicationFailure && error.type === FAILURE_TYPES.notFound) return undefined;
    throw error;
  }
}
