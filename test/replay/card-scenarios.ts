import { randomUUID } from 'node:crypto';
import type { AuthorizeInput } from '../../src/contract/authorize.js';
import type { ChargeInput } from '../../src/contract/charge.js';
import type { StoreCardInput } from '../../src/contract/cards.js';
import { cardWorkflowId, paymentWorkflowId, PAYMENTS_TASK_QUEUE } from '../../src/contract/names.js';
import type { FaultInput } from '../../sandbox/control.js';
import { CARDS, newReference } from '../support/charges.js';
import { storedCard, storeInput } from '../support/cards.js';
import type { TestStack } from '../support/stack.js';
import type { Scenario } from './scenarios.js';

const ONCE = { method: 'POST', times: 1 } as const;
const STORE = { ...ONCE, path: '*/payment-methods/*' } as const;
const REFUSED: FaultInput = { ...STORE, action: 'status', status: 400 };
const DECLINED = { action: 'result', status: 'Failed', category: 'payment_method_declined', times: 1 } as const;
const BY_CHARGE = { consent: { by: 'charge' } } as const;

/** Stored cards, and holds that are reauthorized with one; the same rules as for `SCENARIOS`. */
export const CARD_SCENARIOS: Readonly<Record<string, Scenario>> = {
  'store-card-stored': (stack) => stored(stack),
  'store-card-stored-by-charge': (stack) => stored(stack, BY_CHARGE),
  'store-card-stored-with-a-customer-who-is-there': async (stack) => {
    const { customer } = await storeInput(stack);
    await stored(stack, { customer });
    return await stored(stack, { customer });
  },
  'store-card-stored-after-lost-replies': (stack) =>
    stored(stack, {}, [
      { ...ONCE, action: 'drop_reply', path: '/customers' },
      { ...ONCE, action: 'drop_reply', path: '*/authorizations' },
      { ...STORE, action: 'drop_reply' },
      { ...ONCE, action: 'drop_reply', path: '*/voids' },
    ]),
  'store-card-pending-then-webhook': async (stack) => {
    const input = await storeInput(stack, {}, CARDS.pendsThenSucceeds);
    const { transactionId = '' } = await stack.holdfast.storeCard(input);
    await stack.sandbox.complete(transactionId, { status: 'Succeed' });
    return paymentWorkflowId(input.reference);
  },
  'store-card-declined': (stack) => stored(stack, {}, [{ ...DECLINED, path: '*/authorizations' }]),
  'store-card-refused-by-service': (stack) =>
    stored(stack, {}, [{ ...ONCE, action: 'status', status: 400, path: '*/authorizations' }]),
  'store-card-not-executed-token-expired': (stack) =>
    stored(stack, { paymentMethod: { type: 'tokenized', token: randomUUID() } }),
  'store-card-not-stored-and-voided': (stack) => stored(stack, {}, [REFUSED]),
  'store-card-not-stored-and-refunded': (stack) => stored(stack, BY_CHARGE, [REFUSED]),
  'store-card-not-stored-and-kept': (stack) => stored(stack, { ...BY_CHARGE, onNotStored: 'keep' }, [REFUSED]),
  'store-card-without-the-e-mail-for-network-tokens': async (stack) => {
    const { customer } = await storeInput(stack);
    await stored(stack, { customer });
    return await stored(stack, { customer: { ...customer, email: 'ada@shop.example' }, networkTokens: true });
  },
  'list-cards': async (stack) => {
    const { customerId } = await storedCard(stack);
    return await raw(stack, 'listCards', { customerId });
  },
  'list-cards-of-nobody': (stack) => raw(stack, 'listCards', { customerId: randomUUID() }),
  'remove-card': async (stack) => {
    const { customerId, token } = await storedCard(stack);
    return await raw(stack, 'removeCard', { customerId, token });
  },
  'remove-card-that-is-not-there': async (stack) => {
    const { customerId } = await storedCard(stack);
    return await raw(stack, 'removeCard', { customerId, token: randomUUID() });
  },
  'charge-with-a-stored-card': async (stack) => {
    const input = await storedInput(stack);
    await stack.holdfast.charge(input as ChargeInput);
    return paymentWorkflowId(input.reference);
  },
  'authorize-reauthorized-then-captured': (stack) =>
    held(stack, async ({ reference }) => {
      await stack.holdfast.reauthorize(reference);
      await stack.holdfast.capture(reference);
    }),
  'authorize-reauthorized-after-lost-replies': (stack) =>
    held(stack, async ({ reference }) => {
      for (const path of ['*/voids', '*/authorizations']) {
        await stack.sandbox.addFault({ ...ONCE, action: 'drop_reply', path, reconciliation_id: reference });
      }
      await stack.holdfast.reauthorize(reference, {}, { waitFor: '20 seconds' });
      await stack.holdfast.void(reference);
    }),
  'authorize-reauthorized-and-declined': (stack) =>
    held(stack, async ({ reference }) => {
      await stack.sandbox.addFault({ ...DECLINED, path: '*/authorizations', reconciliation_id: reference });
      await stack.holdfast.reauthorize(reference);
    }),
  'authorize-reauthorized-and-refused': (stack) =>
    held(stack, async ({ reference, customerId = '', paymentMethod: { token } }) => {
      await stack.holdfast.removeCard({ customerId, token });
      await stack.holdfast.reauthorize(reference).catch(() => undefined);
    }),
};

async function stored(
  stack: TestStack,
  overrides: Partial<StoreCardInput> = {},
  faults: readonly FaultInput[] = [],
): Promise<string> {
  const input = await storeInput(stack, overrides);
  for (const fault of faults) {
    // Customers and cards have no reconciliation id.
    const ofPayment = /authorizations|voids|charges|refunds/.test(fault.path ?? '');
    await stack.sandbox.addFault({ ...fault, ...(ofPayment && { reconciliation_id: input.reference }) });
  }
  await stack.holdfast.storeCard(input, { waitFor: '20 seconds' }).catch(() => undefined);
  return paymentWorkflowId(input.reference);
}

async function raw(stack: TestStack, type: 'listCards' | 'removeCard', of: { customerId: string; token?: string }) {
  const commandId = newReference('golden');
  const handle = await stack.temporal.workflow.start(type, {
    workflowId: cardWorkflowId(of.customerId, commandId),
    taskQueue: PAYMENTS_TASK_QUEUE,
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    args: [{ ...of, commandId }],
  });
  await handle.result().catch(() => undefined);
  return handle.workflowId;
}

async function storedInput(stack: TestStack): Promise<AuthorizeInput> {
  const { customerId, token, consentTransactionId = '' } = await storedCard(stack);
  return {
    reference: newReference(),
    amount: 6_000,
    currency: 'USD',
    customerId,
    paymentMethod: { type: 'tokenized', token },
    cardOnFile: { entryMode: 'cof_cardholder_initiated_transaction', consentTransactionId },
  };
}

async function held(stack: TestStack, then: (input: AuthorizeInput) => Promise<void>): Promise<string> {
  const input = await storedInput(stack);
  await stack.holdfast.authorize(input, { waitFor: '20 seconds' });
  await then(input);
  return paymentWorkflowId(input.reference);
}
