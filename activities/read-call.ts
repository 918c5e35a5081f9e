import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { FAILURE_TYPES } from '../src/contract/failure-types.js';
import type { CallOptions } from '../src/provider/index.js';
import { READ_KNOWLEDGE, toApplicationFailure } from './to-application-failure.js';

/** The activity may run for 20 s: the call ends 5 s before. */
const READ_HTTP_MS = 15_000;

/** Options of every read. `currency`: of the amounts, where API version 1.0.0 names none. */
export function readOptions(currency?: string): CallOptions {
  return { timeoutMs: READ_HTTP_MS, signal: cancellationSignal(), ...(currency !== undefined && { currency }) };
}

/** Less than a third of the heartbeat limit of reads and look-ups. */
const BEAT_MS = 3_000;

/**
 * Tells the server that the worker lives: a read that was lost with its worker is then made again within seconds. A long
 * history takes minutes to read. Once it is cancelled nobody waits for it, nor for a beat.
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

/** A look-up that beats while it works. */
export function beating<Deps, Call extends unknown[], Answer>(
  look: (deps: Deps, ...call: Call) => Promise<Answer>,
): (deps: Deps, ...call: Call) => Promise<Answer> {
  return (deps, ...call) => whileBeating(() => look(deps, ...call));
}

/** A read: every answer is believed, and every failure leaves with its type. */
export async function readCall<Answer>(send: () => Promise<Answer>): Promise<Answer> {
  try {
    return await whileBeating(send);
  } catch (error) {
    throw toApplicationFailure(error, READ_KNOWLEDGE);
  }
}

/** A believed 404 as an answer: there is none. */
export async function orNothing<Answer>(read: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ApplicationFailure && error.type === FAILURE_TYPES.notFound) return undefined;
    throw error;
  }
}
