import { randomUUID } from 'node:crypto';
import type { ChargeInput } from '../../src/contract/charge.js';
import type { SandboxControl } from '../../sandbox/control.js';

export const CARDS = {
  succeeds: '4111111111111111',
  declines: '4242424242424242',
  pendsThenSucceeds: '5105105105105100',
  pendsThenFails: '5454545454545454',
} as const;

/** A reference that no other test uses. */
export function newReference(prefix = 'order'): string {
  return `${prefix}-${randomUUID().slice(0, 13)}`;
}

/** Input of a charge over 10.95 USD with a fresh token of `card`. */
export async function chargeInput(
  sandbox: SandboxControl,
  card: string = CARDS.succeeds,
  overrides: Partial<ChargeInput> = {},
): Promise<ChargeInput> {
  const { token } = await sandbox.tokenize(card);
  return {
    reference: newReference(),
    amount: 1095,
    currency: 'USD',
    paymentMethod: { type: 'tokenized', token },
    ...overrides,
  };
}
