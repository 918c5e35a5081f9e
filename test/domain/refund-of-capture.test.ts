import { describe, expect, test } from 'vitest';
import { canonical } from '../../src/contract/idempotency.js';
import type { ActionRecord } from '../../src/contract/payment-actions.js';
import type { TransactionRecord } from '../../src/contract/records.js';
import { allowedAmount, type CaptureSums, type PaymentFacts, sumsOfCapture } from '../../src/domain/payment-sums.js';
import { actionOf, captured, factsOf, type Truth } from './payment-facts.js';

const show = (amount: number): string => `${amount} units`;

/** 60 and 30 captured, one after the other. */
const both = (rest: Partial<PaymentFacts> = {}): PaymentFacts =>
  captured({
    captures: [
      { transactionId: 'c-1', status: 'Succeed', amount: 60 },
      { transactionId: 'c-2', status: 'Succeed', amount: 30 },
    ],
    ...rest,
  });
const refund = (id: string, amount: number, captureId?: string, status: TransactionRecord['status'] = 'Succeed') => ({
  ...{ transactionId: id, status, amount },
  ...(captureId !== undefined && { captureId }),
});
/** Our own refund of one capture. */
const refundOf = (captureId: string, id: string, amount: number, fate: Truth['fate'] = 'succeeded'): ActionRecord => ({
  ...actionOf({ kind: 'refund', id, amount, fate }),
  request: canonical({ captureId, amount }),
});
const captureOf = (id: string, amount: number, fate: Truth['fate'] = 'succeeded'): ActionRecord =>
  actionOf({ kind: 'capture', id, amount, fate });

describe('what one of several captures took, and what was refunded of it', () => {
  test.each<[string, PaymentFacts, ActionRecord[], Record<string, CaptureSums | undefined>]>([
    [
      'is counted for each by itself',
      both(),
      [],
      { 'c-1': { captured: 60, refunded: 0 }, 'c-2': { captured: 30, refunded: 0 }, 'c-3': undefined },
    ],
    [
      'is not touched by a charge of the same payment',
      both({ charges: [{ transactionId: 'x-1', status: 'Succeed', amount: 10 }] }),
      [],
      { 'c-1': { captured: 60, refunded: 0 }, 'x-1': undefined },
    ],
    [
      'counts a refund on the capture that it names',
      both({ refunds: [refund('r-1', 25, 'c-1'), refund('r-2', 5, 'c-2')] }),
      [],
      { 'c-1': { captured: 60, refunded: 25 }, 'c-2': { captured: 30, refunded: 5 } },
    ],
    [
      'counts a refund that is still under way',
      both({ refunds: [refund('r-1', 25, 'c-1', 'Pending')] }),
      [],
      { 'c-1': { captured: 60, refunded: 25 }, 'c-2': { captured: 30, refunded: 0 } },
    ],
    [
      'counts a refund that names none on neither, unless we have asked for it',
      both({ refunds: [refund('r-1', 25)] }),
      [],
      { 'c-1': { captured: 60, refunded: 0 }, 'c-2': { captured: 30, refunded: 0 } },
    ],
    [
      'counts a refund that names none on the capture for which we have asked for it',
      both({ refunds: [refund('r-1', 25), refund('r-2', 5)] }),
      [refundOf('c-2', 'r-2', 5), refundOf('c-1', 'r-1', 25)],
      { 'c-1': { captured: 60, refunded: 25 }, 'c-2': { captured: 30, refunded: 5 } },
    ],
    [
      'counts our refund that no list shows yet, and once',
      both(),
      [captureOf('c-1', 60), refundOf('c-1', 'r-1', 25), refundOf('c-2', 'r-2', 5)],
      { 'c-1': { captured: 60, refunded: 25 }, 'c-2': { captured: 30, refunded: 5 } },
    ],
    [
      'counts our refund that was never confirmed, and not the one that failed',
      both(),
      [refundOf('c-1', 'r-1', 25, 'unconfirmed'), refundOf('c-1', 'r-2', 10, 'failed')],
      { 'c-1': { captured: 60, refunded: 25 } },
    ],
    [
      'no longer counts our refund that was never confirmed once a list shows that it failed',
      both({ refunds: [refund('r-1', 25, undefined, 'Failed')] }),
      [refundOf('c-1', 'r-1', 25, 'unconfirmed')],
      { 'c-1': { captured: 60, refunded: 0 } },
    ],
    [
      'does not count a refund of another capture whose id begins alike',
      both(),
      [refundOf('c-10', 'r-1', 25), refundOf('c-', 'r-2', 5)],
      { 'c-1': { captured: 60, refunded: 0 } },
    ],
    [
      'does not count a refund of the whole payment',
      both(),
      [{ ...actionOf({ kind: 'refund', id: 'r-1', amount: 25, fate: 'succeeded' }), request: canonical({}) }],
      { 'c-1': { captured: 60, refunded: 0 } },
    ],
    [
      'is known of our own capture that no list shows yet, and nothing of the others is added to it',
      factsOf([], 100),
      [captureOf('c-3', 10), captureOf('c-4', 20), refundOf('c-3', 'r-1', 4)],
      { 'c-3': { captured: 10, refunded: 4 }, 'c-4': { captured: 20, refunded: 0 }, 'c-1': undefined },
    ],
    [
      'is nothing yet while our own capture is not confirmed',
      factsOf([], 100),
      [captureOf('c-3', 10, 'unconfirmed')],
      { 'c-3': { captured: 0, refunded: 0 } },
    ],
    [
      'is not looked for under the id of a refund',
      both({ refunds: [refund('r-1', 25, 'c-1')] }),
      [refundOf('c-1', 'r-1', 25)],
      { 'r-1': undefined },
    ],
  ])('%s', (_name, facts, actions, expected) => {
    const sums = Object.keys(expected).map((id) => [id, sumsOfCapture(facts, actions, id)]);
    expect(Object.fromEntries(sums)).toEqual(expected);
  });
});

describe('a refund of one capture', () => {
  const OF_PAYMENT = {
    authorized: 100,
    captured: 90,
    refunded: 0,
    capturedAtMost: 90,
    voided: false,
    showsVoided: false,
  };
  const ONE = { captured: 60, refunded: 25 };

  test.each<[string, number | undefined, Partial<typeof OF_PAYMENT>, CaptureSums, object]>([
    ['refunds what is left of that capture', undefined, {}, ONE, { amount: 35 }],
    ['refunds what was asked for', 10, {}, ONE, { amount: 10 }],
    ['refunds all that is left if that is asked for', 35, {}, ONE, { amount: 35 }],
    [
      'never refunds more than that capture took, though others took more',
      36,
      {},
      ONE,
      {
        refusal:
          'amount: 36 units is more than the 35 units left to refund: ' +
          '60 units captured, 25 units refunded or being refunded of that capture',
        badInput: true,
      },
    ],
    [
      'refunds nothing of a capture that was refunded whole',
      undefined,
      {},
      { captured: 60, refunded: 60 },
      {
        refusal: 'nothing is left to refund: 60 units captured, 60 units refunded or being refunded of that capture',
      },
    ],
    ['refunds no more than the payment has left', undefined, { refunded: 80 }, ONE, { amount: 10 }],
    [
      'is told the numbers of the payment where those are the limit',
      11,
      { refunded: 80 },
      ONE,
      {
        refusal:
          'amount: 11 units is more than the 10 units left to refund: ' +
          '90 units captured, 80 units refunded or being refunded',
        badInput: true,
      },
    ],
    [
      'is told the numbers of the payment where both leave the same',
      36,
      { refunded: 55 },
      ONE,
      {
        refusal:
          'amount: 36 units is more than the 35 units left to refund: ' +
          '90 units captured, 55 units refunded or being refunded',
        badInput: true,
      },
    ],
  ])('%s', (_name, asked, change, capture, expected) => {
    expect(allowedAmount('refund', asked, { ...OF_PAYMENT, ...change }, show, capture)).toEqual(expected);
  });
});
