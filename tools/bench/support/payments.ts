import type { HoldfastClient } from '../../../src/client/holdfast-client.js';
import type { ChargeInput } from '../../../src/contract/charge.js';
import type { SandboxControl } from '../../../sandbox/control.js';
import { PLAIN_UNIT, type ProfileUnit } from '../../stack/profile-units.js';

/** A card that the sandbox charges at once. */
export const CARD = '4111111111111111';
export const WAIT = { waitFor: '2 minutes' } as const;

/** A business unit with an app id and keys of its own. */
export function benchUnit(name: string): ProfileUnit {
  return {
    ...PLAIN_UNIT,
    name,
    appId: `holdfast-bench-${name}`,
    privateKey: `bench-${name}-private-key`,
    publicKey: `bench-${name}-public-key`,
  };
}

/** Tokens made in advance, since a browser makes them before the buyers pay. */
export async function tokensFor(sandbox: SandboxControl, count: number, publicKey?: string): Promise<string[]> {
  const card = { cardNumber: CARD, ...(publicKey !== undefined && { publicKey }) };
  const made = await Promise.all(Array.from({ length: count }, () => sandbox.tokenize(card)));
  return made.map(({ token }) => token);
}

/** From 50.00 on, a refund succeeds at once. */
export function chargeInput(reference: string, token = ''): ChargeInput {
  return { reference, amount: 6_000, currency: 'USD', paymentMethod: { type: 'tokenized', token } };
}

/** @throws Error if the charge does not succeed */
export async function pay(
  holdfast: HoldfastClient,
  reference: string,
  token: string | undefined,
  businessUnit?: string,
): Promise<void> {
  const input = { ...chargeInput(reference, token), ...(businessUnit !== undefined && { businessUnit }) };
  const { status } = await holdfast.charge(input, WAIT);
  if (status !== 'succeeded') throw new Error(`${reference}: ${status}`);
}

/** Each POST of a payment takes so many ms longer, or that share of them. 0 ms: nothing is changed. */
export async function slowDownPosts(sandbox: SandboxControl, ms: number, share = 1): Promise<void> {
  const fault = { action: 'delay', method: 'POST', path: '/payments*', delay_ms: ms, probability: share } as const;
  if (ms > 0) await sandbox.addFault(fault);
}
