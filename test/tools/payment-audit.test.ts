import { describe, expect, test } from 'vitest';
import { newPaymentRecord, type PaymentRecord, type Operation } from '../../tools/audit/payment-record.js';
import { NoAnswerInTime } from '../../tools/chaos/driver/driver-context.js';
import { EndedByOperator, recordEarlyEnd } from '../../tools/chaos/scenarios/scenario.js';
import { auditPayments } from '../../tools/audit/audit-payments.js';
import type { LedgerEntry } from '../../tools/audit/ledger.js';
import { HoldfastError } from '../../src/client/index.js';
import type { FinalOutcome, Outcome } from '../../src/contract/messages.js';

const HELD = 30_000;

function entry(kind: string, id: string, more: Partial<LedgerEntry> = {}): LedgerEntry {
  return {
    kind,
    payment_id: 'p',
    transaction_id: id,
    amount: HELD,
    currency: 'USD',
    status: 'Succeed',
    idempotency_key: `payment-a:${kind}:${id}`,
    reconciliation_id: 'a',
    created: '0',
    ...more,
  };
}

function answer(status: Outcome['status'], transactionId: string, more: object = {}): FinalOutcome {
  const known = { reference: 'a', amount: HELD, currency: 'USD', paymentId: 'p', authorizationId: 'auth' };
  return { ...known, status, transactionId, ...more } as unknown as FinalOutcome;
}

const CAPTURE: Operation = {
  what: 'capture',
  expected: 'succeeded',
  reconciliationId: 'a-c',
  answer: answer('succeeded', 'cap'),
};
const HOLD: Operation = { what: 'authorization', expected: 'any', answer: answer('authorized', 'auth') };
const ON_LEDGER = [entry('authorization', 'auth'), entry('capture', 'cap', { reconciliation_id: 'a-c' })];

/** A hold that was captured, as its callers were told. */
function captured(more: Partial<PaymentRecord> = {}): PaymentRecord {
  const known = {
    number: 1,
    scenario: 'a scenario',
    profile: 'default',
    reference: 'a',
    amount: HELD,
    currency: 'USD',
  };
  const outcome = answer('captured', 'cap', { capturedAmount: HELD });
  return { ...newPaymentRecord(known), paymentId: 'p', operations: [HOLD, CAPTURE], outcome, ...more };
}

const refusal = new HoldfastError('StateConflict', 'Refused: the money is captured already');
const refused = (expected: Operation['expected']): Operation => ({ what: 'void', expected, commandId: 'v', refusal });

describe('the audit of payments', () => {
  test('fit what the callers were told', () => {
    expect(auditPayments([captured()], ON_LEDGER)).toEqual([]);
    expect(auditPayments([captured({ operations: [HOLD, CAPTURE, refused('refused')] })], ON_LEDGER)).toEqual([]);
  });

  test.each<[string, PaymentRecord, LedgerEntry[], string]>([
    [
      'a second capture',
      captured(),
      [...ON_LEDGER, entry('capture', 'cap2', { reconciliation_id: 'a-c' })],
      'money moved 2 times',
    ],
    [
      'more captured than was authorized',
      captured(),
      [...ON_LEDGER, entry('capture', 'x', { amount: 1 })],
      'captured 30001',
    ],
    [
      'more refunded than was captured',
      captured(),
      [...ON_LEDGER, entry('refund', 'r', { amount: HELD + 1 })],
      'refunded 30001',
    ],
    ['a capture and a void', captured(), [...ON_LEDGER, entry('void', 'v')], 'captured 30000 and voided 30000'],
    ['a hold that nobody has ended', captured(), ON_LEDGER.slice(0, 1), '30000 are still held'],
    [
      'a movement of which nobody was told',
      captured(),
      [...ON_LEDGER, entry('refund', 'r', { amount: 1 })],
      'nobody was told',
    ],
    [
      'a second payment',
      captured(),
      [...ON_LEDGER, entry('authorization', 'b', { payment_id: 'q' })],
      'has 2 payments',
    ],
    [
      'money that nobody asked for',
      captured(),
      [...ON_LEDGER, entry('charge', 'z', { payment_id: 'q', reconciliation_id: 'z' })],
      'z: nobody asked',
    ],
    [
      'what is pending for ever',
      captured(),
      [...ON_LEDGER, entry('refund', 'r', { status: 'Pending' })],
      'still pending',
    ],
    [
      'another sum than was told',
      captured(),
      [ON_LEDGER[0]!, { ...ON_LEDGER[1]!, amount: 1 }],
      'amount was told as 30000',
    ],
    [
      'a capture under another reference',
      captured(),
      [ON_LEDGER[0]!, { ...ON_LEDGER[1]!, reconciliation_id: 'a' }],
      'capture a-c: the ledger has it under reference a',
    ],
    [
      'a capture in another currency',
      captured(),
      [ON_LEDGER[0]!, { ...ON_LEDGER[1]!, currency: 'JPY' }],
      'currency was told as USD, the ledger says JPY',
    ],
    [
      'the void of a rest in another currency',
      captured(),
      [...ON_LEDGER, entry('void', 'v', { currency: 'KWD' })],
      'the ledger has void v Succeed over 30000 KWD, not in USD',
    ],
    [
      'an answer in another currency',
      captured({ operations: [HOLD, { ...CAPTURE, answer: answer('succeeded', 'cap', { currency: 'JPY' }) }] }),
      ON_LEDGER,
      'was told succeeded in JPY, not in USD',
    ],
    [
      'onLedger all in another currency',
      captured(),
      ON_LEDGER.map((one) => ({ ...one, currency: 'KWD' })),
      'not in USD',
    ],
    [
      'an answer that is not final',
      captured({ operations: [HOLD, CAPTURE, { what: 'refund', expected: 'any', answer: answer('unknown', 'r') }] }),
      ON_LEDGER,
      'is still unknown',
    ],
    [
      'a refusal that should have been an answer',
      captured({ operations: [HOLD, CAPTURE, refused('succeeded')] }),
      ON_LEDGER,
      'was refused, though',
    ],
    [
      'a refusal of what was done',
      captured({ operations: [HOLD, { ...CAPTURE, refusal, expected: 'any' }] }),
      ON_LEDGER,
      'but the ledger has',
    ],
    [
      'a flow that never ended',
      { ...captured(), outcome: undefined } as unknown as PaymentRecord,
      ON_LEDGER,
      'its flow never ended',
    ],
  ])('do not fit with %s', (_what, record, ledger, sentence) => {
    expect(auditPayments([record], ledger)).toContainEqual(expect.stringContaining(sentence));
  });
});

describe('beside the movements', () => {
  const beside = (kind: string, id: string, more: Partial<LedgerEntry> = {}): LedgerEntry =>
    entry(kind, id, { idempotency_key: null, created: '1', ...more });
  const refund = (more: Partial<Operation> = {}): Operation => ({
    what: 'refund',
    expected: 'any',
    answer: answer('succeeded', 'r', { amount: 1_000 }),
    ...more,
  });
  const disputed = [...ON_LEDGER, beside('chargeback', 'd')];
  const refundedAt = (created: string): LedgerEntry[] => [
    ...disputed,
    entry('refund', 'r', { amount: 1_000, created }),
  ];

  test('a chargeback and one analysis fit what the callers were told', () => {
    expect(auditPayments([captured()], [...disputed, beside('risk-analysis', 'x')])).toEqual([]);
  });

  test('what was charged back must not be refunded too, unless a person says so or it was before', () => {
    const given = 'refunded 1000 and was charged back 30000, but only 30000 were taken';
    const told = (operation: Operation): PaymentRecord => captured({ operations: [HOLD, CAPTURE, operation] });
    expect(auditPayments([told(refund())], refundedAt('2'))).toEqual([expect.stringContaining(given)]);
    expect(auditPayments([told(refund({ confirmsDispute: true }))], refundedAt('2'))).toEqual([]);
    expect(auditPayments([told(refund())], refundedAt('0'))).toEqual([]);
  });

  test('a hold that its flow says has lapsed is one that its provider has released', () => {
    const outcome = answer('expired', 'auth');
    const expired = captured({ operations: [{ ...HOLD, answer: outcome }], outcome });
    const held = ON_LEDGER.slice(0, 1);
    expect(auditPayments([expired], [...held, beside('lapse', 'auth')])).toEqual([]);
    expect(auditPayments([expired], held)).toEqual([
      expect.stringContaining('30000 are still held'),
      expect.stringContaining('which its provider has not released'),
    ]);
    const { outcome: _told, ...forgotten } = expired;
    expect(auditPayments([{ ...forgotten, terminated: true }], [...held, beside('lapse', 'auth')])).toEqual([
      expect.stringContaining('30000 are still held'),
    ]);
  });

  test('a payment is analysed once', () => {
    const twice = [...ON_LEDGER, beside('risk-analysis', 'x'), beside('risk-analysis', 'y', { payment_id: 'q' })];
    expect(auditPayments([captured()], twice)).toEqual([expect.stringContaining('was analysed 2 times: x and y')]);
  });
});

describe('a flow that was never started, since an operator ended the one before', () => {
  function earlyEnd(error: Error, operations: Operation[]): PaymentRecord {
    const { outcome: _none, ...record } = captured({ operations });
    recordEarlyEnd(record, error);
    return record;
  }

  test('need not end', () => {
    expect(auditPayments([earlyEnd(new EndedByOperator(), [])], [])).toEqual([]);
  });

  test('has no money in the ledger', () => {
    expect(auditPayments([earlyEnd(new EndedByOperator(), [])], ON_LEDGER)).toContainEqual(
      expect.stringContaining('nobody was told of'),
    );
  });

  test('is not one that was asked for', () => {
    expect(auditPayments([earlyEnd(new EndedByOperator(), [HOLD])], ON_LEDGER)).toContainEqual(
      expect.stringContaining('its flow never ended'),
    );
  });

  test('nor one whose caller gave up', () => {
    expect(auditPayments([earlyEnd(new NoAnswerInTime(), [])], [])).toContainEqual(
      expect.stringContaining('its flow never ended'),
    );
  });
});
