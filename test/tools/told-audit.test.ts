import { expect, test } from 'vitest';
import { auditTold } from '../../tools/audit/audit-told.js';
import { newPaymentRecord, type Operation, type PaymentRecord } from '../../tools/audit/payment-record.js';
import { HoldfastError } from '../../src/client/index.js';
import type { VerifiedNotification } from '../../src/client/verify-notification.js';
import type { FinalOutcome } from '../../src/contract/messages.js';
import { paymentActionsWorkflowId, paymentWorkflowId } from '../../src/contract/names.js';

const PAID = {
  reference: 'a',
  amount: 1_095,
  currency: 'USD',
  paymentId: 'p',
  status: 'succeeded',
  transactionId: 't',
};
const BACK = { ...PAID, reference: 'p', amount: 500, transactionId: 'r' };
const REFUND: Operation = {
  what: 'refund',
  expected: 'succeeded',
  reconciliationId: 'back',
  answer: BACK as unknown as FinalOutcome,
};

function told(id: string, type: string, data: object, workflowId = paymentWorkflowId('a')): VerifiedNotification {
  const known = { timestamp: '2026-03-10T00:00:00.000Z', businessUnit: 'default', sequence: 1 };
  return { ...known, id, type, data, workflowId } as VerifiedNotification;
}

const refunded = (data: object, type = 'refund.succeeded', id = 'n2') =>
  told(id, type, { command: 'refund', commandId: 'back', ...data }, paymentActionsWorkflowId('p'));

function paid(...operations: Operation[]): PaymentRecord {
  const of = { number: 1, scenario: 'a scenario', profile: 'default', reference: 'a', amount: 1_095, currency: 'USD' };
  return { ...newPaymentRecord(of), paymentId: 'p', operations, outcome: PAID as unknown as FinalOutcome };
}

const END = told('n1', 'payment.succeeded', PAID);
const NONE: ReadonlySet<string> = new Set();

test('what merchants are told fits what callers were answered, however often it comes', () => {
  const all = [told('n0', 'payment.pending', { ...PAID, status: undefined }), END, END, refunded(BACK), refunded(BACK)];
  expect(auditTold(all, [paid(REFUND)], NONE)).toEqual([]);
});

const refusal = new HoldfastError('StateConflict', 'Refused');

test.each<[string, VerifiedNotification[], PaymentRecord, string]>([
  [
    'a repeat that says otherwise',
    [END, told('n1', 'payment.succeeded', { ...PAID, amount: 1 })],
    paid(),
    'came again',
  ],
  ['two ends', [END, told('n2', 'payment.succeeded', PAID)], paid(), 'told to have ended 2 times'],
  ['another end', [told('n1', 'payment.declined', { ...PAID, status: 'declined' })], paid(), 'tells its status'],
  ['another sum', [told('n1', 'payment.succeeded', { ...PAID, amount: 1 })], paid(), 'tells its amount as 1'],
  ['another transaction', [refunded({ ...BACK, transactionId: 'x' })], paid(REFUND), 'refund back: refund.succeeded'],
  [
    'two ends of a command',
    [refunded(BACK), refunded({ ...BACK, status: 'declined' }, 'refund.declined', 'n3')],
    paid({ ...REFUND, answer: undefined } as unknown as Operation),
    'is told as succeeded and as declined',
  ],
  [
    'the success of what was refused',
    [refunded(BACK)],
    paid({ what: 'refund', expected: 'any', reconciliationId: 'back', refusal }),
    'was refused, and is told as succeeded',
  ],
])('%s is found', (_what, all, record, sentence) => {
  expect(auditTold(all, [record], NONE)).toContainEqual(expect.stringContaining(sentence));
});

test('a flow that was reset tells the same at another time, and of the same only that', () => {
  const reset = new Set([paymentWorkflowId('a')]);
  const later = { ...END, timestamp: '2026-03-10T00:09:00.000Z', sequence: 2 };
  expect(auditTold([END, later], [paid()], reset)).toEqual([]);
  expect(auditTold([END, later], [paid()], NONE)).toContainEqual(expect.stringContaining('came again'));
  const other = { ...later, data: { ...PAID, amount: 1 } };
  expect(auditTold([END, other], [paid()], reset)).toContainEqual(expect.stringContaining('came again'));
});

test('a flow that was reset may end otherwise', () => {
  const ends = [END, told('n2', 'payment.declined', { ...PAID, status: 'declined' })];
  expect(auditTold(ends, [paid()], new Set([paymentWorkflowId('a')]))).toEqual([]);
});
