import type { StoreCardInput, Stored } from '../../src/contract/cards.js';
import { CARDS, chargeInput, newReference } from './charges.js';
import { flowOf } from './flows.js';
import { MOCK_FRIENDLY } from './payments.js';
import { serviceOf } from './service.js';
import type { TestStack } from './stack.js';
import { until } from './until.js';
import type { VirtualTime } from './virtual-time.js';

/** The call that puts a card on file. */
export const STORE = { method: 'POST', path: '*/payment-methods/*' } as const;

/** Input for storing a fresh token of `card` with a customer of its own, by a consent over 60.00 USD. */
export async function storeInput(
  { sandbox }: Pick<TestStack, 'sandbox'>,
  overrides: Partial<StoreCardInput> = {},
  card?: string,
): Promise<StoreCardInput> {
  const { reference, currency, paymentMethod } = await chargeInput(sandbox, card);
  const customer = { customerReference: newReference('customer') };
  return { reference, amount: MOCK_FRIENDLY, currency, paymentMethod, customer, ...overrides };
}

/** A card that is on file now. */
export async function storedCard(
  { holdfast, sandbox }: Pick<TestStack, 'holdfast' | 'sandbox'>,
  { businessUnit = 'default', publicKey }: { businessUnit?: string; publicKey?: string } = {},
): Promise<Stored> {
  const { token } = await sandbox.tokenize({
    cardNumber: CARDS.succeeds,
    ...(publicKey !== undefined && { publicKey }),
  });
  const paymentMethod = { type: 'tokenized' as const, token };
  const stored = await holdfast.storeCard(await storeInput({ sandbox }, { businessUnit, paymentMethod }));
  if (stored.status !== 'stored') throw new Error(`the card is not on file: ${JSON.stringify(stored)}`);
  return stored;
}

/** A card that is being stored: until `succeeds` the buyer's bank has not answered. */
export async function pendingConsent(stack: TestStack, overrides: Partial<StoreCardInput> = {}) {
  const input = await storeInput(stack, overrides);
  const pends = { action: 'result', status: 'Pending', path: '*/authorizations' } as const;
  await stack.sandbox.addFault({ ...pends, reconciliation_id: input.reference });
  const { transactionId = '' } = await stack.holdfast.storeCard(input);
  const succeeds = async (): Promise<object> => {
    await stack.sandbox.complete(transactionId, { status: 'Succeed' });
    return await flowOf(stack, input).result();
  };
  return { input, succeeds };
}

/** A customer who is there already, made by another caller of the service, who can give them cards. */
export async function customerBefore(stack: Pick<TestStack, 'sandbox' | 'sandboxUrl'>) {
  const customer = { customerReference: newReference('customer') };
  const service = serviceOf(stack);
  const { id } = await service.post('/customers', { customer_reference: customer.customerReference });
  const putOnFile = async (): Promise<void> => {
    const { token } = await stack.sandbox.tokenize(CARDS.succeeds);
    await service.post(`/customers/${id}/payment-methods/${token}`);
  };
  return { customer, customerId: id, putOnFile };
}

/** A card that is on file, as an input names it; made by another caller of the service, so that no flow knows of it. */
export async function storedInSkippedTime(time: VirtualTime) {
  const { reference, paymentMethod } = await time.input();
  const { token } = paymentMethod;
  const customer = { customerReference: `customer-${reference}` };
  const { data } = await time.provider.createCustomer(customer, { idempotencyKey: `customer-${reference}` });
  await time.provider.storePaymentMethod(data.id, token, { idempotencyKey: `card-${reference}` });
  return { customerId: data.id, paymentMethod: { type: 'tokenized' as const, token } };
}

/** Answers once the card is being stored, which takes `delay_ms`. */
export async function storingSlowly(
  { sandbox, holdfast }: Pick<TestStack, 'sandbox' | 'holdfast'>,
  input: StoreCardInput,
  delay_ms: number,
) {
  const slow = await sandbox.addFault({ ...STORE, action: 'delay', delay_ms, times: 1 });
  const storing = holdfast.storeCard(input, { waitFor: '50 seconds' });
  await until(
    () => sandbox.faults(),
    (faults) => faults.every(({ id, fired }) => id !== slow.id || fired > 0),
  );
  return { storing };
}
