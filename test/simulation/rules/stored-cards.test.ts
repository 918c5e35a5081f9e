import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StoreCardInput } from '../../../src/contract/cards.js';
import type { ChargeInput } from '../../../src/contract/charge.js';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import type { Profile } from '../../../sandbox/records.js';
import { storedCard } from '../../support/cards.js';
import { CARDS } from '../../support/charges.js';
import { movements } from '../../support/payments.js';
import { resetToFirstTask } from '../../support/resets.js';
import { monthly, subscribe } from '../../support/subscriptions.js';
import { answers, beginFlow, DAY, declined, HOUR, inputOf, sharedTime } from './context.js';

const time = sharedTime({ billing: true });

const profile = (changed: Partial<Profile>) =>
  time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: changed });

const CONSENT = { cardOnFile: { entryMode: 'consent_transaction' } };

describe('a card whose first card-on-file transaction was declined', () => {
  test.each([
    ['storeCard', {}],
    ['charge', CONSENT],
    ['authorizeAndCapture', CONSENT],
  ] as const)('is said to be of no more use by %s, whatever the reason', async (type, more) => {
    for (const faults of [[], [declined('*')]]) {
      const input = await inputOf(time, type, { card: CARDS.declines, ...more });
      const flow = await beginFlow(time, type, input, faults);
      expect(await flow.outcome()).toMatchObject({ status: 'declined', retryable: 'newCard' });
      expect(await time.holdfast.explain(flow.reference)).toContain('Only another card may be tried.');
      expect((await movements(time, flow.reference)).map((line) => line.split(' ')[1])).toEqual(['Failed']);
    }
  });

  test('may be tried again where it was no consent', async () => {
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge', { card: CARDS.declines }));
    expect(await flow.outcome()).toMatchObject({ status: 'declined', retryable: 'newReference' });
  });
});

describe('a consent id under a name that nobody has configured', () => {
  beforeAll(() => profile({ consent_id_field: 'scheme_reference' }));
  afterAll(() => profile({ consent_id_field: 'network_transaction_id' }));

  test('is said to be missing, with the setting that finds it', async () => {
    const flow = await beginFlow(time, 'storeCard', await inputOf(time, 'storeCard'));
    const stored = await flow.outcome();
    expect(stored).toMatchObject({
      status: 'stored',
      consentIdMissing: expect.stringContaining('set consentIdFields'),
    });
    expect(stored).not.toHaveProperty('consentTransactionId');
    expect(await time.holdfast.explain(flow.reference)).toContain('without a consent id');
  });
});

test('a result says what the provider said of the transaction', async () => {
  for (const [card, status] of [
    [CARDS.succeeds, 'succeeded'],
    [CARDS.declines, 'declined'],
    [CARDS.pendsThenSucceeds, 'succeeded'],
  ] as const) {
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge', { card }));
    expect(await flow.outcome()).toMatchObject({
      status,
      details: { createdAt: expect.stringMatching(/^\d{4}-.*Z$/), externalId: expect.any(String) },
    });
  }
});

test('what the buyer is to be shown is told while it pends and at the end, but for what holds card data or is long', async () => {
  const documents = [
    { href: 'https://bank.example/voucher.pdf', descriptor: 'voucher', content_type: 'application/pdf' },
    { content: 'BARCODE 8 71 23' },
    { descriptor: 'receipt', content: `paid with ${CARDS.succeeds}` },
    { descriptor: 'scan', content: 'x'.repeat(5_000) },
  ];
  const shown = {
    documents: [
      { href: 'https://bank.example/voucher.pdf', descriptor: 'voucher', contentType: 'application/pdf' },
      { content: 'BARCODE 8 71 23' },
      { descriptor: 'receipt' },
      { descriptor: 'scan' },
    ],
    omitted: ['documents.2.content', 'documents.3.content'],
  };
  const input = await inputOf(time, 'charge', { card: CARDS.pendsThenSucceeds });
  const flow = await beginFlow(time, 'charge', input, [
    { action: 'result', status: 'Succeed', path: '*/charges', documents },
  ]);
  await time.passUntil(flow.startedAt + 2_000);
  expect(await time.holdfast.charge(input as ChargeInput, { waitFor: 1_000 })).toMatchObject({
    status: 'pending',
    details: shown,
  });
  expect(await flow.outcome()).toMatchObject({ status: 'succeeded', details: shown });
});

describe('where a customer id is a text and no UUID', () => {
  beforeAll(() => profile({ reading: 'interface' }));
  afterAll(() => profile({ reading: 'observed' }));

  test('a card is stored, listed, charged, billed and removed', async () => {
    const { customerId, token, consentTransactionId = '' } = await storedCard(time);
    expect(customerId).toMatch(/^customer\.\w{32}$/);
    expect((await time.holdfast.listCards({ customerId })).cards).toMatchObject([{ token }]);

    const cardOnFile = { entryMode: 'cof_merchant_initiated_transaction', consentTransactionId };
    const paymentMethod = { type: 'tokenized', token };
    const input = { ...(await inputOf(time, 'charge', { cardOnFile, customerId })), paymentMethod };
    expect(await (await beginFlow(time, 'charge', input)).outcome()).toMatchObject({ status: 'succeeded' });

    const plan = await monthly(time, { customerId, token, periods: 1 });
    await subscribe(time, plan);
    await time.passUntil((await time.now()) + 3 * DAY);
    expect(await movements(time, `${plan.reference}.1.1`)).toEqual(['charge Succeed 6000 EUR']);
    expect(await time.holdfast.removeCard({ customerId, token })).toEqual({ customerId, token, status: 'removed' });
    expect((await time.holdfast.listCards({ customerId })).cards).toEqual([]);
  });
});

test.each([404, 405, 501, 503])(
  'a card is stored by a service that answers %i to who reads a token',
  async (status) => {
    const fault = await time.sandbox.addFault(answers(status, 'GET', '/tokens/*'));
    const flow = await beginFlow(time, 'storeCard', await inputOf(time, 'storeCard'));
    expect(await flow.outcome()).toMatchObject({ status: 'stored', consentTransactionId: expect.any(String) });
    await time.sandbox.removeFault(fault.id);
  },
);

test('a hold on a stored card is analysed with the card, one on a new card without it', async () => {
  const { token } = await storedCard(time);
  const later = { cardOnFile: { entryMode: 'cof_merchant_initiated_transaction' } };
  for (const stored of [true, false]) {
    const input = await inputOf(time, 'authorizeAndCapture', { risk: { when: 'after' }, ...(stored && later) });
    const card = stored ? { paymentMethod: { type: 'tokenized', token } } : {};
    const { paymentId } = await (await beginFlow(time, 'authorizeAndCapture', { ...input, ...card })).outcome();
    const [asked] = time.requests.operations(paymentId, 'risk-analyses');
    const { payment_method } = JSON.parse(asked?.body ?? '{}') as { payment_method?: unknown };
    expect(payment_method).toEqual(stored ? { type: 'tokenized', token } : undefined);
  }
});

test('an order with a free item and a discount is charged', async () => {
  const order = { lineItems: [{ unitPrice: 7_000 }, { unitPrice: 0 }, { unitPrice: -1_000 }] };
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge', { order }));
  const { paymentId = '' } = await flow.outcome();
  expect((await time.provider.getPayment(paymentId)).data.order).toEqual(order);
});

describe('a card that was taken off file after it was stored', () => {
  test.each([HOUR, 21 * DAY])(
    'is not called never stored by a reset %i ms later, nor is its consent refunded',
    async (ms) => {
      const input = await inputOf(time, 'storeCard', { onNotStored: 'undo' });
      const flow = await beginFlow(time, 'storeCard', input);
      const stored = (await flow.outcome()) as { customerId: string; token: string; last4Digits?: string };
      expect(stored).toMatchObject({ status: 'stored' });
      const { customerId, token, last4Digits } = stored;
      await time.holdfast.removeCard({ customerId, token });
      await time.passUntil((await time.now()) + ms);
      const runId = await resetToFirstTask(time.client, flow.workflowId);
      const again = await time.client.workflow.getHandle(flow.workflowId, runId).result();
      expect(again).toMatchObject({ status: 'stored', token, last4Digits, money: { status: 'kept' } });
      expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
      expect((await time.holdfast.listCards({ customerId })).cards).toEqual([]);
    },
  );

  test('is not put on file by a reset where its consent was refunded', async () => {
    const input = await inputOf(time, 'storeCard', { onNotStored: 'undo' });
    const refused = await time.sandbox.addFault(answers(400, 'POST', '/customers/*/payment-methods/*'));
    const flow = await beginFlow(time, 'storeCard', input);
    expect(await flow.outcome()).toMatchObject({ status: 'consentedNotStored', money: { status: 'refunded' } });
    await time.sandbox.removeFault(refused.id);
    const runId = await resetToFirstTask(time.client, flow.workflowId);
    const again = await time.client.workflow.getHandle(flow.workflowId, runId).result();
    expect(again).toMatchObject({ status: 'consentedNotStored', money: { status: 'refunded' } });
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD', 'refund Succeed 6000 USD']);
  });
});

test.each([
  ['has succeeded', 'is not on file'],
  ['has succeeded', 'was put on file by somebody else'],
  ['pends', 'is not on file'],
  ['pends', 'was put on file by somebody else'],
] as const)(
  'a card whose consent is being given back is not stored by a reset: the refund %s, the card %s',
  async (how, where) => {
    const refused = await time.sandbox.addFault(answers(400, 'POST', '/customers/*/payment-methods/*'));
    const other =
      how === 'pends'
        ? await time.sandbox.addFault({ action: 'result', status: 'Pending', path: '*/refunds' })
        : await time.sandbox.addFault(answers(503, 'GET', '*/charges/*'));
    const input = await inputOf(time, 'storeCard', { onNotStored: 'undo' });
    const flow = await beginFlow(time, 'storeCard', input);
    await time.passUntil(flow.startedAt + HOUR / 2);
    for (const { id } of [refused, other]) await time.sandbox.removeFault(id);
    if (where !== 'is not on file') await putOnFile(input as StoreCardInput);
    await resetToFirstTask(time.client, flow.workflowId);
    await time.passUntil((await time.now()) + HOUR);
    const refund = (await time.sandbox.ledger(flow.reference)).find(({ kind }) => kind === 'refund');
    if (how === 'pends') await time.sandbox.complete(refund?.transaction_id ?? '', { status: 'Succeed' });
    const ended = await time.client.workflow.getHandle(flow.workflowId).result();
    expect(ended).toMatchObject({ status: 'consentedNotStored', money: { status: 'refunded' } });
    const moved = await movements(time, flow.reference);
    expect(moved.filter((row) => row.startsWith('refund'))).toEqual(['refund Succeed 6000 USD']);
  },
);

async function putOnFile({ customer, paymentMethod: { token } }: StoreCardInput): Promise<void> {
  const { data } = await time.provider.findCustomer(customer.customerReference);
  await time.provider.storePaymentMethod(data?.id ?? '', token, { idempotencyKey: `somebody-else-${token}` });
}
