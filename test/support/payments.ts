import type { AuthorizeInput } from '../../src/contract/authorize.js';
import { chargeInput } from './charges.js';
import type { TestStack } from './stack.js';

/** Below 50.00 the mock provider refuses or delays captures, refunds and voids. */
export const MOCK_FRIENDLY = 6_000;

/** Input of an authorization over 60.00 USD with a fresh token of `card`. */
export async function authorizeInput(
  { sandbox }: Pick<TestStack, 'sandbox'>,
  card?: string,
  overrides: Partial<AuthorizeInput> = {},
): Promise<AuthorizeInput> {
  const { reference, currency, paymentMethod } = await chargeInput(sandbox, card);
  return { reference, amount: MOCK_FRIENDLY, currency, paymentMethod, ...overrides };
}

/** What the ledger says moved, oldest first: kind, status, amount (minor units) and currency of each transaction. */
export async function movements({ sandbox }: Pick<TestStack, 'sandbox'>, reference: string): Promise<string[]> {
  const ledger = await sandbox.ledger(reference);
  return ledger.map(({ kind, status, amount, currency }) => `${kind} ${status} ${amount} ${currency}`);
}
