import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError, type HoldfastClient } from '../../src/client/index.js';
import type { ChargeInput, ChargeOutcome } from '../../src/contract/charge.js';
import type { ChargeRecord } from '../../tools/audit/audit-charges.js';

/** Pause before the same question is put again after an answer that is not final. */
const ASK_AGAIN_MS = 250;

export interface AskOptions {
  concurrency: number;
  /** How long one charge is asked for before its caller gives up for now, in ms. */
  limitMs: number;
  /** Called whenever one more caller has begun. */
  onBegin?: (begun: number) => void;
}

/** Asks for every charge, `concurrency` at a time, each until it is final or its time is over. */
export async function askForAll(
  holdfast: HoldfastClient,
  inputs: readonly ChargeInput[],
  { concurrency, limitMs, onBegin }: AskOptions,
): Promise<ChargeRecord[]> {
  const asked: ChargeRecord[] = [];
  const queue = inputs.entries();
  const caller = async (): Promise<void> => {
    // One iterator that all callers share: each takes the next charge that nobody has.
    for (const [index, input] of queue) {
      onBegin?.(index + 1);
      asked[index] = await askUntilFinal(holdfast, input, limitMs);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, caller));
  return asked;
}

/**
 * Asks as a careful business service does: an engine that is away, an answer that is not known yet and one
 * that is pending all mean "ask the same again", and nothing else does.
 */
export async function askUntilFinal(
  holdfast: HoldfastClient,
  input: ChargeInput,
  limitMs: number,
): Promise<ChargeRecord> {
  const end = Date.now() + limitMs;
  let answer: ChargeOutcome | undefined;
  do {
    try {
      answer = await holdfast.charge(input, { waitFor: Math.max(1_000, Math.min(5_000, end - Date.now())) });
      if (isFinal(answer)) return { input, answer };
    } catch (error) {
      if (!(error instanceof HoldfastError && error.type === 'EngineUnavailable')) return { input, answer, error };
    }
    await sleep(ASK_AGAIN_MS);
  } while (Date.now() < end);
  return { input, answer };
}

/** Asks again for the charges whose caller had given up. A final answer stays as it is. */
export async function askAgainForOpen(
  holdfast: HoldfastClient,
  asked: readonly ChargeRecord[],
  options: AskOptions,
): Promise<ChargeRecord[]> {
  const open = asked.filter(isOpen).map(({ input }) => input);
  const again = new Map((await askForAll(holdfast, open, options)).map((one) => [one.input.reference, one]));
  return asked.map((one) => again.get(one.input.reference) ?? one);
}

/** Whether asking again may tell more. */
function isOpen({ answer, error }: ChargeRecord): boolean {
  return error === undefined && !(answer && isFinal(answer));
}

function isFinal({ status }: ChargeOutcome): boolean {
  return status !== 'pending' && status !== 'unknown';
}
