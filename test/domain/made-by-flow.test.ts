import { describe, expect, test } from 'vitest';
import { WORKFLOW_TYPES } from '../../src/contract/names.js';
import type { MadeTransactions } from '../../src/contract/payment-actions.js';
import type { TransactionRecord } from '../../src/contract/records.js';
import { madeByFlow } from '../../src/domain/ownership.js';

const { charge, authorizeAndCapture, storeCard, ...OTHERS } = WORKFLOW_TYPES;
/** 100 were asked for. */
const PAYMENT = { reference: 'order-1001', paymentId: 'pay-1', amount: 100, currency: 'EUR' };
const CHARGED = { ...PAYMENT, status: 'succeeded', transactionId: 'txn-1' };
const HELD = { ...PAYMENT, authorizationId: 'auth-1', transactionId: 'txn-1' };
const CONSENTED = { ...PAYMENT, status: 'stored', transactionId: 'txn-1' };
const NOTHING = { paymentId: 'pay-1', authorizations: [], charges: [], captures: [], refunds: [], voids: [] };

const one = (transactionId: string, amount = 100): TransactionRecord[] => [
  { transactionId, status: 'Succeed', amount },
];
const only = (made: Partial<MadeTransactions>) => ({ ...NOTHING, ...made });

describe('of a charge', () => {
  test.each<[string, object, Partial<MadeTransactions>]>([
    ['one that succeeded has charged the whole', CHARGED, { charges: one('txn-1') }],
    [
      'one whose id nobody knows has charged the whole all the same',
      { ...CHARGED, transactionId: undefined },
      { charges: one('of unknown id') },
    ],
    ['one that was declined has charged nothing', { ...CHARGED, status: 'declined' }, {}],
    ['one that was proven absent has charged nothing', { ...PAYMENT, status: 'notExecuted' }, {}],
    [
      'one that failed after it was voided has charged nothing',
      { ...CHARGED, status: 'voided', voided: { status: 'declined', transactionId: 'txn-2' } },
      {},
    ],
    [
      'one that succeeded although its void has as well shows both, and that nobody can tell what is left',
      { ...CHARGED, despiteVoid: { status: 'succeeded', transactionId: 'void-1' } },
      { charges: one('txn-1'), voids: one('void-1'), despiteVoid: true },
    ],
    [
      'one that succeeded and whose void was declined has charged the whole',
      { ...CHARGED, despiteVoid: { status: 'declined', transactionId: 'void-1' } },
      { charges: one('txn-1') },
    ],
    [
      'one that succeeded and whose void was never executed has charged the whole',
      { ...CHARGED, despiteVoid: { status: 'notExecuted' } },
      { charges: one('txn-1') },
    ],
  ])('%s', (_name, result, made) => {
    expect(madeByFlow(charge, result)).toStrictEqual(only(made));
  });
});

describe('of a hold', () => {
  const TAKEN = { ...HELD, status: 'captured', capturedAmount: 60 };
  const auth = one('auth-1');

  test.each<[string, object, Partial<MadeTransactions>]>([
    [
      'one that was captured whole was held and captured once',
      { ...TAKEN, capturedAmount: 100 },
      { authorizations: auth, captures: one('txn-1', 100) },
    ],
    [
      'one that was captured in part was held whole, and captured by that part',
      TAKEN,
      { authorizations: auth, captures: one('txn-1', 60) },
    ],
    [
      'one whose rest was voided has nothing left to capture',
      { ...TAKEN, released: { amount: 40, by: 'void', transactionId: 'void-1' } },
      { authorizations: auth, captures: one('txn-1', 60), voids: one('void-1') },
    ],
    [
      'one whose rest is left to expire was not voided',
      { ...TAKEN, released: { amount: 40, by: 'expiry', at: '2027-01-31T12:00:00.000Z', why: 'no void was sent' } },
      { authorizations: auth, captures: one('txn-1', 60) },
    ],
    [
      'one that was captured although its void has succeeded shows both, and that nobody can tell what is left',
      { ...TAKEN, capturedAmount: 100, despiteVoid: { status: 'succeeded', transactionId: 'void-1' } },
      { authorizations: auth, captures: one('txn-1', 100), voids: one('void-1'), despiteVoid: true },
    ],
    [
      'one that was captured, and whose void was declined, was captured',
      { ...TAKEN, despiteVoid: { status: 'declined', transactionId: 'void-1' } },
      { authorizations: auth, captures: one('txn-1', 60) },
    ],
    [
      'one that was voided has nothing left to capture or to void',
      { ...HELD, status: 'voided', reason: 'command' },
      { authorizations: auth, voids: one('txn-1') },
    ],
    [
      'one that has expired has nothing left to capture or to void, although there is no void with an id',
      { ...HELD, transactionId: undefined, status: 'expired', reason: 'the provider has released it' },
      { authorizations: auth, voids: one('of unknown id') },
    ],
    ['one that was declined holds nothing', { ...PAYMENT, status: 'declined', transactionId: 'txn-1' }, {}],
    ['one that was proven absent holds nothing', { ...PAYMENT, status: 'notExecuted' }, {}],
    ['a capture whose amount is not told vouches for none', { ...HELD, status: 'captured' }, {}],
    ['an amount without a capture vouches for none', { ...HELD, status: 'declined', capturedAmount: 60 }, {}],
  ])('%s', (_name, result, made) => {
    expect(madeByFlow(authorizeAndCapture, result)).toStrictEqual(only(made));
  });
});

describe('of the consent to a card on file', () => {
  test.each<[string, object, Partial<MadeTransactions>]>([
    ['a charge that was kept stands', { status: 'kept' }, { charges: one('txn-1') }],
    [
      'a refund whose failure nobody confirmed counts as made',
      { status: 'notRefunded', transactionId: 'refund-1', why: 'its failure was never confirmed' },
      { charges: one('txn-1'), refunds: one('refund-1') },
    ],
    [
      'a charge that was never refunded stands',
      { status: 'notRefunded', why: 'the provider refuses it' },
      { charges: one('txn-1') },
    ],
    [
      'a charge that was refunded was charged and refunded whole',
      { status: 'refunded', transactionId: 'refund-1' },
      { charges: one('txn-1'), refunds: one('refund-1') },
    ],
    [
      'a hold that was voided is gone',
      { status: 'voided', transactionId: 'void-1' },
      { authorizations: one('txn-1'), voids: one('void-1') },
    ],
    [
      'a hold that has expired is gone, although there is no void with an id',
      { status: 'expired' },
      { authorizations: one('txn-1'), voids: one('of unknown id') },
    ],
  ])('%s', (_name, money, made) => {
    expect(madeByFlow(storeCard, { ...CONSENTED, money })).toStrictEqual(only(made));
    const notStored = { ...CONSENTED, status: 'consentedNotStored', money };
    expect(madeByFlow(storeCard, notStored)).toStrictEqual(only(made));
  });

  test.each(['declined', 'notExecuted'])('one that was %s has moved nothing', (status) => {
    expect(madeByFlow(storeCard, { ...PAYMENT, status, transactionId: 'txn-1' })).toStrictEqual(NOTHING);
  });
});

describe('a flow vouches for nothing', () => {
  test.each<[string, unknown]>([
    ['that was left without a result', undefined],
    ['whose result is null', null],
    ['whose result is a text', 'succeeded'],
    ['that names no payment', { ...CHARGED, paymentId: undefined }],
    ['whose payment is no text', { ...CHARGED, paymentId: 17 }],
    ['that does not say how much', { ...CHARGED, amount: undefined }],
    ['whose amount is no number', { ...CHARGED, amount: '100' }],
  ])('%s', (_name, result) => {
    for (const type of [charge, authorizeAndCapture, storeCard]) expect(madeByFlow(type, result)).toBeUndefined();
  });

  test.each([undefined, 'a type of tomorrow', ...Object.values(OTHERS)])('of the type %s', (type) => {
    expect(madeByFlow(type, CHARGED)).toBeUndefined();
  });
});
