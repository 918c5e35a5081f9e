import type { BenchStack } from '../support/bench-stack.js';
import { CARD, pay } from '../support/payments.js';
import { type Percentiles, percentilesOf, runAtRate } from '../support/stats.js';
import type { HoldfastClient } from '../../../src/client/holdfast-client.js';

export interface Measured extends Percentiles {
  count: number;
}

/** Number of checkouts whose token is made in advance, since a browser makes it before the buyer pays. */
const AHEAD = 20;

/**
 * Starts checkouts at a steady rate, without waiting for earlier ones, until `isOver`. Measures the ms from when each
 * was due until its charge succeeded. Throws if one does not succeed.
 */
export async function checkouts(
  { holdfast, sandbox }: { holdfast: HoldfastClient; sandbox: BenchStack['sandbox'] },
  perSecond: number,
  label: string,
  isOver: () => boolean,
): Promise<Measured> {
  const tokens: Promise<{ token: string }>[] = [];
  const refill = (): void => {
    while (tokens.length < AHEAD) tokens.push(sandbox.tokenize(CARD));
  };
  refill();
  await Promise.all(tokens);
  const pays = async (index: number): Promise<void> => {
    const token = tokens.shift();
    refill();
    await pay(holdfast, `checkout-${label}-${index}`, (await token)?.token);
  };
  const took = await runAtRate(perSecond, () => !isOver(), pays);
  return { count: took.length, ...percentilesOf(took) };
}
