import { expect, test } from 'vitest';
import type { ActionRecord } from '../../src/contract/payment-actions.js';
import type { TransactionRecord } from '../../src/contract/records.js';
import { allowedAmount, sumsOf } from '../../src/domain/payment-sums.js';
import { actionOf, captured, REFUND } from './payment-facts.js';

test('a refund that a person has settled without its id counts once where a list shows it under its key', () => {
  const done = actionOf({ ...REFUND, fate: 'succeeded' });
  const { transactionId: _unknown, ...outcome } = done.outcome;
  const settled = { ...done, outcome } as ActionRecord;
  const listed = { transactionId: 'r-9', status: 'Succeed', amount: 25, holdfastKey: done.key } as const;
  const left = (refund: TransactionRecord) =>
    allowedAmount('refund', undefined, sumsOf(captured({ refunds: [refund] }), [settled]), String);
  expect(left(listed)).toEqual({ amount: 35 });
  expect(left({ ...listed, holdfastKey: 'key-of-others' })).toEqual({ amount: 10 });
});
