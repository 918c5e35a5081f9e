import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { TransactionEvent } from '../../src/contract/messages.js';
import { TRANSACTION_STATUSES } from '../../src/contract/statuses.js';
import { classifyEvent, resourceOf, tellsOfPayment } from '../../src/domain/settling.js';
import { OURS } from './records.js';

const PAYMENT = '6f3d2c1a-0b9e-4a77-8c55-1d2e3f405162';
const OWN = { kind: 'charge', businessUnit: 'default', paymentId: PAYMENT, transactionId: OURS } as const;
const EVENT: TransactionEvent = {
  hash: 'ab',
  eventType: 'payment.charge.update',
  created: '2027-01-31T10:00:00Z',
  businessUnit: 'default',
  paymentId: PAYMENT,
  transactionId: OURS,
  status: 'Succeed',
  amount: 1095,
  currency: 'USD',
  trusted: true,
};
const { status: _status, ...WITHOUT_STATUS } = EVENT;
const { amount: _amount, ...WITHOUT_AMOUNT } = EVENT;
const { currency: _currency, ...WITHOUT_CURRENCY } = EVENT;
const { transactionId: _transactionId, ...WITHOUT_TRANSACTION } = EVENT;

describe('an event', () => {
  test('settles when it is signed, trusted and about our unit, payment, resource and transaction', () => {
    expect(classifyEvent(EVENT, OWN)).toEqual({
      verdict: 'settles',
      record: { transactionId: OURS, status: 'Succeed', amount: 1095, currency: 'USD' },
    });
    expect(classifyEvent({ ...EVENT, eventType: 'payment.charge.create' }, OWN).verdict).toBe('settles');
  });

  test.each<[string, TransactionEvent, object]>([
    ['another business unit', { ...EVENT, businessUnit: 'other' }, { verdict: 'ignore', reason: 'otherBusinessUnit' }],
    ['another payment', { ...EVENT, paymentId: OURS }, { verdict: 'ignore', reason: 'otherPayment' }],
    ['another charge', { ...EVENT, transactionId: PAYMENT }, { verdict: 'ignore', reason: 'otherTransaction' }],
    ['a refund', { ...EVENT, eventType: 'payment.refund.update' }, { verdict: 'ignore', reason: 'otherResource' }],
    ['the payment', { ...EVENT, eventType: 'payment.payment.update' }, { verdict: 'ignore', reason: 'otherResource' }],
    [
      'a refund of no transaction at all',
      { ...WITHOUT_TRANSACTION, eventType: 'payment.refund.update' },
      { verdict: 'ignore', reason: 'otherResource' },
    ],
    ['a charge that it does not name, which may be ours', WITHOUT_TRANSACTION, { verdict: 'read' }],
    ['a resource nobody knows', { ...EVENT, eventType: 'payment.dispute.create' }, { verdict: 'read' }],
    ['a type of another form', { ...EVENT, eventType: 'charge' }, { verdict: 'read' }],
    ['our charge, but not to be trusted', { ...EVENT, trusted: false }, { verdict: 'read' }],
    ['our charge, without its status', WITHOUT_STATUS, { verdict: 'read' }],
    ['our charge that failed, without why', { ...EVENT, status: 'Failed' }, { verdict: 'read' }],
    ['our charge that failed, with an empty why', { ...EVENT, status: 'Failed', category: '' }, { verdict: 'read' }],
    ['our charge, without its amount', WITHOUT_AMOUNT, { verdict: 'read' }],
    ['our charge, without its currency', WITHOUT_CURRENCY, { verdict: 'read' }],
  ])('about %s does not settle', (_name, event, expected) => {
    expect(classifyEvent(event, OWN)).toEqual(expected);
  });

  test('only makes the flow read while its transaction is not known yet', () => {
    expect(classifyEvent(EVENT, { ...OWN, transactionId: undefined })).toEqual({ verdict: 'read' });
    expect(classifyEvent({ ...EVENT, trusted: false }, { ...OWN, transactionId: undefined })).toEqual({
      verdict: 'read',
    });
  });

  test('changes nothing while the payment is not known yet', () => {
    const own = { ...OWN, paymentId: undefined, transactionId: undefined };
    expect(classifyEvent(EVENT, own)).toEqual({ verdict: 'ignore', reason: 'paymentNotKnownYet' });
  });

  test('settles only if every condition holds, for any combination of what it carries', () => {
    const id = fc.constantFrom(OURS, PAYMENT, '', OURS.toUpperCase());
    const event = fc.record({
      hash: fc.constant('ab'),
      eventType: fc.constantFrom('payment.charge.update', 'payment.refund.update', 'payment.x.y', 'charge', ''),
      created: fc.string(),
      businessUnit: fc.constantFrom('default', 'other'),
      paymentId: id,
      transactionId: fc.option(id, { nil: undefined }),
      status: fc.option(fc.constantFrom(...TRANSACTION_STATUSES), { nil: undefined }),
      category: fc.option(fc.string(), { nil: undefined }),
      amount: fc.option(fc.constant(1095), { nil: undefined }),
      currency: fc.option(fc.constant('USD'), { nil: undefined }),
      trusted: fc.boolean(),
    }) as fc.Arbitrary<TransactionEvent>;
    const own = fc.record({
      kind: fc.constant('charge' as const),
      businessUnit: fc.constantFrom('default', 'other'),
      paymentId: fc.option(id, { nil: undefined }),
      transactionId: fc.option(id, { nil: undefined }),
    });
    fc.assert(
      fc.property(event, own, (received, ours) => {
        const fits =
          received.trusted &&
          received.status !== undefined &&
          (received.status !== 'Failed' || Boolean(received.category)) &&
          received.amount !== undefined &&
          received.currency !== undefined &&
          received.businessUnit === ours.businessUnit &&
          ours.paymentId !== undefined &&
          received.paymentId === ours.paymentId &&
          resourceOf(received.eventType) === ours.kind &&
          ours.transactionId !== undefined &&
          received.transactionId === ours.transactionId;
        expect(classifyEvent(received, ours).verdict === 'settles').toBe(fits);
      }),
      { numRuns: 2_000 },
    );
  });

  test('hands on signed fields and no others', () => {
    const full: TransactionEvent = {
      ...EVENT,
      status: 'Failed',
      category: 'payment_method_declined',
      subCategory: 'lost_stolen_card',
      responseCode: '102',
      reconciliationId: 'order-1001',
      amount: 1095,
      currency: 'USD',
    };
    expect(classifyEvent(full, OWN)).toEqual({
      verdict: 'settles',
      record: {
        transactionId: OURS,
        status: 'Failed',
        category: 'payment_method_declined',
        subCategory: 'lost_stolen_card',
        responseCode: '102',
        amount: 1095,
        currency: 'USD',
      },
    });
  });

  test('hands on no field that it does not carry: what was known before would be lost to it', () => {
    const { category: _, subCategory: _sub, responseCode: _code, ...bare } = EVENT;
    expect(classifyEvent({ ...bare, status: 'Pending', amount: 1095, currency: 'USD' }, OWN)).toStrictEqual({
      verdict: 'settles',
      record: { transactionId: OURS, status: 'Pending', amount: 1095, currency: 'USD' },
    });
  });
});

describe('the resource of an event type', () => {
  test.each([
    ['payment.charge.create', 'charge'],
    ['payment.charge.update', 'charge'],
    ['payment.authorization.create', 'authorization'],
    ['payment.payment.update', 'payment'],
    ['payment.risk-analysis.update', 'risk-analysis'],
    ['charge', undefined],
    ['payment.charge', undefined],
    ['payment.Charge.update', undefined],
    ['xpayment.charge.update', undefined],
    ['payment.charge.update2', undefined],
    ['payment.payment-method.charge.update', undefined],
    ['payment.charge.update.now', undefined],
    ['Payment.charge.update', undefined],
    ['', undefined],
  ])('of %p is %p', (eventType, resource) => {
    expect(resourceOf(eventType)).toBe(resource);
  });
});

test.each(['payment', 'authorization', 'charge', 'capture', 'void', 'credit'])(
  'an event about a %s is nothing to a refund, and asks for no read',
  (resource) => {
    const event = { ...EVENT, eventType: `payment.${resource}.update` };
    expect(classifyEvent(event, { ...OWN, kind: 'refund' })).toEqual({ verdict: 'ignore', reason: 'otherResource' });
  },
);

describe('an event of the payment itself', () => {
  const UPDATE: TransactionEvent = { ...EVENT, eventType: 'payment.payment.update' };

  test.each<[string, TransactionEvent, string | undefined, boolean]>([
    ['is a reason to read where it is ours', UPDATE, PAYMENT, true],
    [
      'is one without status and transaction too',
      { ...WITHOUT_TRANSACTION, eventType: UPDATE.eventType },
      PAYMENT,
      true,
    ],
    ['is none where the payment is another', { ...UPDATE, paymentId: OURS }, PAYMENT, false],
    ['is none where the business unit is another', { ...UPDATE, businessUnit: 'other' }, PAYMENT, false],
    ['is none while no payment is known', UPDATE, undefined, false],
    ['is none by its creation', { ...UPDATE, eventType: 'payment.payment.create' }, PAYMENT, false],
    ['is not one of its transactions', EVENT, PAYMENT, false],
    ["is not one of another unit's transactions", { ...EVENT, businessUnit: 'other' }, PAYMENT, false],
  ])('%s', (_name, event, paymentId, tells) => {
    expect(tellsOfPayment(event, { businessUnit: 'default', paymentId })).toBe(tells);
  });
});
