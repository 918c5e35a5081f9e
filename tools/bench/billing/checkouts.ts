import { setTimeout as sleep } from 'node:timers/promises';
import type { HoldfastClient } from '../../../src/client/holdfast-client.js';
import type { SandboxControl } from '../../../sandbox/control.js';
import { percentile } from '../support/stats.js';

export interface Measured {
  count: number;
  p50: number;
  p99: number;
}

/** Number of checkouts whose token is made in advance, since a browser makes it before the buyer pays. */
const AHEAD = 20;

/**
 * Starts checkouts at a steady rate, without waiting for earlier ones, until `isOver`. Measures the ms from when each
 * was due until its charge succeeded. Throws if one does not succeed.
 */
export async function checkouts(
  { holdfast, sandbox }: { holdfast: HoldfastClient; sandbox: SandboxControl },
  perSecond: number,
  label: string,
  isOver: () => boolean,
): Promise<Measured> {
  const took: number[] = [];
  const underWay: Promise<void>[] = [];
  const tokens: Promise<{ token: string }>[] = [];
  const refill = (): void => {
    while (tokens.length < AHEAD) tokens.push(sandbox.tokenize('4111111111111111'));
  };
  refill();
  await Promise.all(tokens);
  const begun = performance.now();
  for (let index = 0; !isOver(); index += 1) {
    const due = begun + (index * 1000) / perSecond;
    const early = due - performance.now();
    if (early > 1) await sleep(early);
    const token = tokens.shift();
    refill();
    underWay.push(
      pay(holdfast, `checkout-${label}-${index}`, (await token)?.token ?? '').then(() => {
        took.push(performance.now() - due);
      }),
    );
  }
  await Promise.all(underWay);
  return { count: took.length, p50: percentile(took, 50), p99: percentile(took, 99) };
}

async function pay(holdfast: HoldfastClient, reference: string, token: string): Promise<void> {
  const paymentMethod = { type: 'tokenized', token } as const;
  const input = { reference, amount: 1_095, currency: 'USD', paymentMethod };
  const { status } = await holdfast.charge(input, { waitFor: '2 minutes' });
  if (status !== 'succeeded') throw new Error(`${reference}: ${status}`);
}
