import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { ActionRecord, PaymentAction } from '../../src/contract/payment-actions.js';
import type { TransactionRecord } from '../../src/contract/records.js';
import { UNKNOWN_ID } from '../../src/domain/ownership.js';
import { allowedAmount, type PaymentFacts, sumsOf, withUnlisted } from '../../src/domain/payment-sums.js';
import {
  actionOf,
  actionsOf,
  anyAmount,
  anyTruths,
  atMost,
  CAPTURE,
  captured,
  factsOf,
  REFUND,
  surely,
} from './payment-facts.js';

const show = (amount: number): string => `${amount} units`;
const wish = fc.option(anyAmount, { nil: undefined });

const asks = (action: PaymentAction, asked: number | undefined, facts: PaymentFacts, actions = actionsOf([])) =>
  allowedAmount(action, asked, sumsOf(facts, actions), show);

describe('whatever the lists show and our own commands did', () => {
  test('an allowed refund never refunds more than was surely captured', () => {
    fc.assert(
      fc.property(anyTruths, anyAmount, wish, (truths, authorized, asked) => {
        const allowed = asks('refund', asked, factsOf(truths, authorized), actionsOf(truths));
        if ('refusal' in allowed) return;
        expect(allowed.amount).toBeGreaterThan(0);
        expect(atMost(truths, 'refund') + allowed.amount).toBeLessThanOrEqual(surely(truths, 'capture'));
      }),
      { numRuns: 1_000 },
    );
  });

  test('an allowed capture never takes more than is authorized', () => {
    fc.assert(
      fc.property(anyTruths, anyAmount, wish, (truths, authorized, asked) => {
        const allowed = asks('capture', asked, factsOf(truths, authorized, 'Authorized'), actionsOf(truths));
        if ('refusal' in allowed) return;
        expect(allowed.amount).toBeGreaterThan(0);
        expect(atMost(truths, 'capture') + allowed.amount).toBeLessThanOrEqual(authorized);
      }),
      { numRuns: 1_000 },
    );
  });

  test('a void is allowed only where nothing may have been captured', () => {
    fc.assert(
      fc.property(anyTruths, anyAmount, (truths, authorized) => {
        const allowed = asks('void', undefined, factsOf(truths, authorized, 'Authorized'), actionsOf(truths));
        if ('amount' in allowed) expect(atMost(truths, 'capture')).toBe(0);
        else expect(truths.some(({ kind }) => kind === 'capture')).toBe(true);
      }),
    );
  });

  test('a list that shows less of what we did never allows more', () => {
    fc.assert(
      fc.property(anyTruths, anyAmount, fc.constantFrom('refund' as const, 'capture' as const), (...story) => {
        const [truths, authorized, action] = story;
        const all = truths.map((each) => ({ ...each, shown: 'now' as const }));
        const most = (seen: typeof truths): number => {
          const allowed = asks(action, undefined, factsOf(seen, authorized, 'Authorized'), actionsOf(seen));
          return 'amount' in allowed ? allowed.amount : 0;
        };
        expect(most(truths)).toBeLessThanOrEqual(most(all));
      }),
      { numRuns: 500 },
    );
  });
});

describe('the sums of a payment', () => {
  test.each(['Pending', 'unconfirmed'] as const)('count a refund that is %s as refunded', (how) => {
    const record =
      how === 'Pending'
        ? ({ transactionId: 'r-1', status: 'Pending', amount: 25 } as const)
        : ({ transactionId: 'r-1', status: 'Failed', category: 'provider_network_error', amount: 25 } as const);
    expect(asks('refund', undefined, captured({ refunds: [record] }))).toEqual({ amount: 35 });
  });

  test('count our own refund, done or never confirmed, that no list shows yet', () => {
    for (const fate of ['succeeded', 'unconfirmed'] as const) {
      expect(asks('refund', undefined, captured(), [actionOf({ ...REFUND, fate })])).toEqual({ amount: 35 });
    }
    expect(asks('refund', undefined, captured(), [actionOf({ ...REFUND, fate: 'failed' })])).toEqual({ amount: 60 });
  });

  describe('count a record without an amount as the whole payment', () => {
    const whole = (status: 'Succeed' | 'Pending') => [{ transactionId: 'x-1', status }];
    const left = (facts: Partial<PaymentFacts>) => asks('refund', undefined, captured(facts));

    test('so that a refund without one leaves nothing to refund', () => {
      const says = '60 units captured, 100 units refunded or being refunded';
      expect(left({ refunds: whole('Succeed') })).toEqual({ refusal: expect.stringContaining(says) });
      expect(left({ refunds: whole('Pending') })).toEqual({ refusal: expect.stringContaining(says) });
    });

    test('so that a capture or a charge without one can be refunded whole, and no more', () => {
      expect(left({ captures: whole('Succeed') })).toEqual({ amount: 100 });
      expect(left({ captures: [], charges: whole('Succeed') })).toEqual({ amount: 100 });
      expect(asks('refund', 101, captured({ captures: whole('Succeed') }))).toMatchObject({ badInput: true });
    });

    test('so that a capture without one leaves nothing to capture and nothing to void', () => {
      for (const status of ['Succeed', 'Pending'] as const) {
        const facts = { ...factsOf([], 100, 'Authorized'), captures: whole(status) };
        const says = '100 units authorized, 100 units captured or being captured';
        expect(asks('capture', 1, facts)).toEqual({ refusal: `nothing is left to capture: ${says}` });
        expect(asks('void', undefined, facts)).toEqual({
          refusal: '100 units may have been captured; refund it instead',
        });
      }
    });

    test('so that an authorization without one holds the whole', () => {
      const facts = { ...factsOf([], 100, 'Authorized'), authorizations: whole('Succeed') };
      expect(asks('capture', undefined, facts)).toEqual({ amount: 100 });
      expect(asks('void', undefined, facts)).toEqual({ amount: 100 });
    });
  });

  test('do not take for captured what was never confirmed, nor what may be listed under another name', () => {
    const none = captured({ captures: [] });
    const unsure = { refusal: expect.stringContaining('nothing confirms it yet'), notYet: true };
    expect(asks('refund', 1, none, [actionOf({ ...CAPTURE, fate: 'unconfirmed' })])).toEqual(unsure);
    const { transactionId: _unknown, ...outcome } = actionOf({ ...CAPTURE, fate: 'succeeded' }).outcome;
    const byOperator = { ...actionOf({ ...CAPTURE, fate: 'succeeded' }), outcome };
    expect(asks('refund', undefined, captured(), [byOperator])).toEqual({ amount: 60 });
    expect(asks('refund', undefined, none, [actionOf({ ...CAPTURE, fate: 'succeeded' })])).toEqual({ amount: 60 });
  });

  test('take our own void for done before the service shows it', () => {
    const facts = factsOf([], 100, 'Authorized');
    const voided = [actionOf({ kind: 'void', id: 'v-1', amount: 100, fate: 'succeeded' })];
    expect(asks('capture', 10, facts)).toEqual({ amount: 10 });
    for (const action of ['capture', 'void'] as const) {
      expect(asks(action, undefined, facts, voided)).toEqual({ refusal: 'the authorization has been voided' });
    }
  });

  test.each<[PaymentAction, number, string]>([
    ['refund', 61, '61 units is more than the 60 units left to refund: 60 units captured, 0 units refunded'],
    ['capture', 41, '41 units is more than the 40 units left to capture: 100 units authorized, 60 units captured'],
  ])('refuse a %s above what is left as bad input, with the numbers', (action, asked, says) => {
    expect(asks(action, asked, captured())).toEqual({ refusal: expect.stringContaining(says), badInput: true });
    expect(asks(action, asked - 1, captured())).toEqual({ amount: asked - 1 });
  });
});

describe('a transaction that does not say what it is worth', () => {
  const nameless = (id: string, status: 'Succeed' | 'Pending' = 'Succeed') => ({ transactionId: id, status }) as const;

  test('is worth the whole payment where it was refunded: nothing more is refunded', () => {
    const facts = captured({ refunds: [nameless('r-1')] });
    expect(sumsOf(facts, [])).toMatchObject({ captured: 60, refunded: 100 });
    expect(asks('refund', 1, facts)).toEqual({
      refusal: 'nothing is left to refund: 60 units captured, 100 units refunded or being refunded',
    });
    expect(asks('refund', 1, captured({ refunds: [nameless('r-1', 'Pending')] }))).toHaveProperty('refusal');
  });

  test('is worth the whole payment where it was taken: nothing more is captured, and it can be refunded', () => {
    const facts = captured({ captures: [nameless('c-1')] });
    expect(asks('capture', 1, facts)).toEqual({
      refusal: 'nothing is left to capture: 100 units authorized, 100 units captured or being captured',
    });
    expect(asks('refund', undefined, facts)).toEqual({ amount: 100 });
  });
});

describe('each sum counts what it must, and nothing else', () => {
  const one = (status: 'Succeed' | 'Pending' | 'Failed', category?: string) => [
    { transactionId: 't-1', status, amount: 40, ...(category !== undefined && { category }) },
  ];
  const NOTHING = { ...factsOf([], 100, 'Authorized'), authorizations: [] };
  const SUMS = { authorized: 0, captured: 0, refunded: 0, capturedAtMost: 0, voided: false, showsVoided: false };

  test.each([
    ['an authorization that succeeded', { authorizations: one('Succeed') }, { authorized: 40 }],
    ['an authorization that is pending', { authorizations: one('Pending') }, {}],
    ['an authorization that failed', { authorizations: one('Failed', 'payment_method_declined') }, {}],
    ['a charge that succeeded', { charges: one('Succeed') }, { captured: 40, capturedAtMost: 40 }],
    ['a charge that is pending', { charges: one('Pending') }, { capturedAtMost: 40 }],
    ['a charge that nobody confirmed', { charges: one('Failed', 'provider_network_error') }, { capturedAtMost: 40 }],
    ['a charge that failed', { charges: one('Failed', 'payment_method_declined') }, {}],
    ['a capture that succeeded', { captures: one('Succeed') }, { captured: 40, capturedAtMost: 40 }],
    ['a capture that is pending', { captures: one('Pending') }, { capturedAtMost: 40 }],
    ['a capture that nobody confirmed', { captures: one('Failed', 'provider_network_error') }, { capturedAtMost: 40 }],
    ['a refund that succeeded', { refunds: one('Succeed') }, { refunded: 40 }],
    ['a refund that is pending', { refunds: one('Pending') }, { refunded: 40 }],
    ['a refund that nobody confirmed', { refunds: one('Failed', 'provider_network_error') }, { refunded: 40 }],
    ['a refund that failed', { refunds: one('Failed', 'payment_method_declined') }, {}],
    ['a void that succeeded', { voids: one('Succeed') }, { voided: true }],
    ['a void that is pending', { voids: one('Pending') }, {}],
    ['a void that failed', { voids: one('Failed', 'payment_method_declined') }, {}],
    ['a payment that shows as voided', { status: 'Voided' }, { voided: true, showsVoided: true }],
  ])('%s', (_name, facts, sums) => {
    expect(sumsOf({ ...NOTHING, ...facts }, [])).toEqual({ ...SUMS, ...sums });
  });

  test('and our own command is counted once, listed or not', () => {
    for (const captures of [[], one('Succeed')]) {
      const done = [actionOf({ kind: 'capture', id: 't-1', amount: 40, fate: 'succeeded' })];
      expect(sumsOf({ ...NOTHING, captures }, done)).toEqual({ ...SUMS, captured: 40, capturedAtMost: 40 });
    }
    const unconfirmed = [actionOf({ kind: 'capture', id: 't-1', amount: 40, fate: 'unconfirmed' })];
    expect(sumsOf(NOTHING, unconfirmed)).toEqual({ ...SUMS, capturedAtMost: 40 });
    const never = actionOf({ kind: 'refund', id: 't-1', amount: 40, fate: 'succeeded' });
    const { reference, amount, currency, evidence } = never.outcome;
    const outcome = { reference, amount, currency, evidence, status: 'notExecuted', reason: 'proven absent' } as const;
    expect(sumsOf(NOTHING, [{ ...never, outcome }])).toEqual(SUMS);
    const failed = [actionOf({ kind: 'void', id: 't-1', amount: 40, fate: 'failed' })];
    expect(sumsOf(NOTHING, failed)).toEqual(SUMS);
  });
});

describe('what the flow of a payment has recorded', () => {
  const MADE = { paymentId: 'p', authorizations: [], charges: [], captures: [], refunds: [], voids: [] };
  const [RECORD] = captured().captures;
  const add = (listed: readonly TransactionRecord[], id: string, actions: readonly ActionRecord[] = []) =>
    withUnlisted(
      captured({ captures: listed }),
      { ...MADE, captures: [{ transactionId: id, status: 'Succeed', amount: 60 }] },
      actions,
    ).captures.map(({ transactionId, status }) => `${transactionId} ${status}`);

  test('counts as pending until a list shows it', () => {
    expect(add([], 'c-1')).toEqual(['c-1 Pending']);
    expect(add([RECORD!], 'c-1')).toEqual(['c-1 Succeed']);
    expect(withUnlisted(captured({ captures: [] }), undefined, []).captures).toEqual([]);
  });

  test('counts by its command, as surely moved, if one has made it', () => {
    expect(add([], 'c-1', [actionOf({ ...CAPTURE, fate: 'succeeded' })])).toEqual([]);
  });

  test('without an id may be any that is listed, but none that has failed, nor one that a command has made', () => {
    expect(add([RECORD!], UNKNOWN_ID)).toEqual(['c-1 Succeed']);
    expect(add([], UNKNOWN_ID)).toEqual([`${UNKNOWN_ID} Pending`]);
    const failed = { ...RECORD!, status: 'Failed' as const, category: 'payment_method_declined' };
    expect(add([failed], UNKNOWN_ID)).toEqual(['c-1 Failed', `${UNKNOWN_ID} Pending`]);
    expect(add([RECORD!], UNKNOWN_ID, [actionOf({ ...CAPTURE, fate: 'succeeded' })])).toEqual([
      'c-1 Succeed',
      `${UNKNOWN_ID} Pending`,
    ]);
  });
});

describe('what a command is told', () => {
  const SUMS = { authorized: 100, captured: 60, refunded: 0, capturedAtMost: 60, voided: false, showsVoided: false };

  test.each<[PaymentAction, number | undefined, Partial<typeof SUMS>, object]>([
    ['refund', undefined, {}, { amount: 60 }],
    ['refund', 60, {}, { amount: 60 }],
    [
      'refund',
      1,
      { captured: 0, capturedAtMost: 0 },
      { refusal: 'nothing has been captured, so that nothing can be refunded' },
    ],
    [
      'refund',
      1,
      { captured: 0 },
      {
        refusal: '60 units may have been captured, and nothing confirms it yet; try again later, under a new commandId',
        notYet: true,
      },
    ],
    ['refund', undefined, { voided: true }, { amount: 60 }],
    [
      'refund',
      undefined,
      { voided: true, showsVoided: true },
      { refusal: expect.stringContaining('60 units captured, and the service shows the payment as voided') as string },
    ],
    ['capture', undefined, {}, { amount: 40 }],
    ['capture', 1, { authorized: 0, capturedAtMost: 0 }, { refusal: 'nothing is authorized' }],
    ['capture', 1, { voided: true }, { refusal: 'the authorization has been voided' }],
    ['void', undefined, { captured: 0, capturedAtMost: 0 }, { amount: 100 }],
    ['void', undefined, { authorized: 0, captured: 0, capturedAtMost: 0 }, { refusal: 'nothing is authorized' }],
    ['void', undefined, { voided: true }, { refusal: 'the authorization has been voided' }],
    [
      'void',
      undefined,
      { captured: 0, capturedAtMost: 1 },
      { refusal: '1 units may have been captured; refund it instead' },
    ],
  ])('%s of %s with %j', (action, asked, change, answer) => {
    expect(allowedAmount(action, asked, { ...SUMS, ...change }, show)).toEqual(answer);
  });
});
