import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../../src/client/index.js';

/** Its caller has no final answer by the time at which everything should have one. */
export class NoAnswerInTime extends Error {
  override readonly name = 'NoAnswerInTime';
}

const WAIT_FOR_MS = 10_000;

/** How long a caller goes on asking. */
export interface RetryBudget {
  /** Epoch ms by which whoever still has no answer gives up. */
  limit: () => number;
  /** Before the same question is put again. */
  pauseMs: number;
  /** How long each question waits for its answer, ms. Default 10 s. */
  waitForMs?: number | undefined;
  /** Up to which the pause grows, by a half each time. Default: it stays as it is. */
  longestPauseMs?: number | undefined;
}

/** The pauses of one who asks again and again, ms. */
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
 * Asks as a careful business service does: an engine that is away, an answer that is not known yet and one that is
 * pending all mean "ask the same again". Resolves with the typed refusal if there is one.
 * @param note is told of every answer, the last one included
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
