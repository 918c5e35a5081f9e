import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { SandboxControl } from '../../../sandbox/control.js';
import { type HoldfastClient, HoldfastError } from '../../../src/client/index.js';
import type { ChargeInput } from '../../../src/contract/charge.js';
import type { PaymentRecord } from '../../audit/payment-record.js';

/** What the driver of a flow works with. */
export interface DriverContext {
  holdfast: HoldfastClient;
  temporal: Client;
  sandbox: SandboxControl;
  sandboxUrl: string;
  /** Epoch ms after which a caller without an answer gives up. */
  limit(): number;
  /** Upper limit in ms of the growing pause between retries. Default: the pause doesn't grow. */
  longestPauseMs?: number;
  /** Timeout in ms of each request. Default 10 s. */
  waitForMs?: number;
  /** Adds the record of a further payment. */
  addRecord(record: PaymentRecord): void;
}

/** A card on file, as the input of a later payment names it. */
export interface OnFile {
  customerId: string;
  token: string;
  cardOnFile: NonNullable<ChargeInput['cardOnFile']>;
}

/** The caller has no final answer by the time limit. */
export class NoAnswerInTime extends Error {
  override readonly name = 'NoAnswerInTime';
}

const WAIT_FOR_MS = 10_000;

/** How long a caller retries. */
export interface RetryBudget {
  /** Epoch ms after which a caller without an answer gives up. */
  limit: () => number;
  /** Pause in ms before the first retry. */
  pauseMs: number;
  /** Timeout in ms of each request. Default 10 s. */
  waitForMs?: number | undefined;
  /** Upper limit in ms of the pause, which grows by half each time. Default: the pause doesn't grow. */
  longestPauseMs?: number | undefined;
}

/** Returns the pause in ms before each further retry. */
export function pausesOf({
  pauseMs,
  longestPauseMs = pauseMs,
}: Pick<RetryBudget, 'pauseMs' | 'longestPauseMs'>): () => number {
  let next = pauseMs;
  return () => {
    const now = next;
    next = Math.min(longestPauseMs, next * 1.5);
    return now;
  };
}

/**
 * Retries as a careful business service does: it repeats the same request while Temporal or the service is unavailable
 * and while `note` says 'ask again'. Resolves with the typed refusal, if any.
 * @param note called with every answer, including the last one
 * @throws NoAnswerInTime
 */
export async function askUntilAnswered<Answer>(
  { limit, waitForMs = WAIT_FOR_MS, ...pauses }: RetryBudget,
  call: (waitFor: number) => Promise<Answer>,
  note: (answer: Answer) => 'enough' | 'ask again',
): Promise<HoldfastError | undefined> {
  const pause = pausesOf(pauses);
  for (;;) {
    try {
      if (note(await call(waitForMs)) === 'enough') return undefined;
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      if (error.type !== 'EngineUnavailable' && error.type !== 'ProviderUnavailable') return error;
    }
    if (Date.now() >= limit()) throw new NoAnswerInTime();
    await sleep(pause());
  }
}
