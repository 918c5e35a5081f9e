import { describe, expect, test } from 'vitest';
import type { EndedFlow } from '../../src/contract/event-port.js';
import type { TransactionEvent } from '../../src/contract/messages.js';
import type { LateVerdict } from '../../src/domain/late-events.js';
import { judgeLateEvent } from '../../src/domain/late-events.js';

type Changes = { [Field in keyof TransactionEvent]?: TransactionEvent[Field] | undefined };

function event(changes: Changes = {}): TransactionEvent {
  const all = {
    hash: 'ab',
    eventType: 'payment.charge.update',
    created: '2027-01-31T10:00:00Z',
    businessUnit: 'default',
    paymentId: 'p-1',
    transactionId: 't-1',
    status: 'Succeed',
    trusted: true,
    ...changes,
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as typeof all &
    Changes as TransactionEvent;
}

describe('an event that comes after its flow had ended', () => {
  const ended = (result: object): EndedFlow => ({ status: 'succeeded', paymentId: 'p-1', result });
  const CHARGED = ended({ status: 'succeeded', paymentId: 'p-1', transactionId: 't-1' });
  const DECLINED = ended({ status: 'declined', paymentId: 'p-1', transactionId: 't-1' });
  const CAPTURED = ended({
    status: 'captured',
    authorizationId: 'a-1',
    transactionId: 'c-1',
    risk: { decision: 'approve', analysisId: 'r-1' },
    released: { amount: 40, by: 'void', transactionId: 'v-1' },
    actions: [
      { action: 'refund', outcome: { status: 'declined', transactionId: 'f-1' } },
      { action: 'refund', outcome: { status: 'unknown', transactionId: 'f-2' } },
    ],
  });

  test.each<[string, Changes, EndedFlow, LateVerdict]>([
    ['says what it ended with', {}, CHARGED, 'agrees'],
    ['says less than what it ended with', { status: 'Pending' }, CHARGED, 'agrees'],
    ['says nothing of the status', { status: undefined }, CHARGED, 'agrees'],
    ['says that a success failed', { status: 'Failed' }, CHARGED, 'contradicts'],
    ['says that a decline was taken after all', {}, DECLINED, 'contradicts'],
    ['says that a decline failed', { status: 'Failed' }, DECLINED, 'agrees'],
    ['names a second charge', { transactionId: 't-2' }, CHARGED, 'unknown'],
    ['names another payment', { paymentId: 'p-2' }, CHARGED, 'unknown'],
    ['is about the payment itself', { transactionId: 'p-1' }, CHARGED, 'agrees'],
    ['names no transaction', { transactionId: undefined, trusted: false }, CHARGED, 'agrees'],
    [
      'has neither a signature nor a status',
      { status: undefined, trusted: false, transactionId: 't-2' },
      CHARGED,
      'agrees',
    ],
    ['is about the hold that was taken', { transactionId: 'a-1' }, CAPTURED, 'agrees'],
    ['says that this hold never was', { transactionId: 'a-1', status: 'Failed' }, CAPTURED, 'contradicts'],
    ['is about the void of the rest', { transactionId: 'v-1' }, CAPTURED, 'agrees'],
    ['says that this void failed', { transactionId: 'v-1', status: 'Failed' }, CAPTURED, 'contradicts'],
    ['says that a refund which was declined was given', { transactionId: 'f-1' }, CAPTURED, 'contradicts'],
    ['ends a refund that nobody could end', { transactionId: 'f-2', status: 'Failed' }, CAPTURED, 'agrees'],
    ['is about its risk analysis, whatever it says', { transactionId: 'r-1', status: 'Failed' }, CAPTURED, 'agrees'],
    ['names a capture that nobody asked for', { transactionId: 'c-2' }, CAPTURED, 'unknown'],
  ])('and %s', (_name, changes, flow, verdict) => {
    expect(judgeLateEvent(event(changes), flow)).toBe(verdict);
  });

  // The result can't be read, so that the search attribute is all there is.
  test.each<[string, string, string | undefined, LateVerdict, LateVerdict]>([
    // of, event type, the flow ended, a success, a failure
    ['a charge that succeeded', 'payment.charge.update', 'succeeded', 'agrees', 'contradicts'],
    ['a charge that was declined', 'payment.charge.update', 'declined', 'contradicts', 'agrees'],
    ['a charge never executed', 'payment.charge.update', 'notExecuted', 'unknown', 'unknown'],
    ['a credit that succeeded', 'payment.credit.update', 'succeeded', 'agrees', 'contradicts'],
    ['a credit that was declined', 'payment.credit.create', 'declined', 'contradicts', 'agrees'],
    ['a hold that was captured', 'payment.authorization.update', 'captured', 'agrees', 'contradicts'],
    ['a hold that was voided', 'payment.authorization.update', 'voided', 'agrees', 'contradicts'],
    ['a hold that expired', 'payment.authorization.update', 'expired', 'agrees', 'contradicts'],
    ['a hold that was declined', 'payment.authorization.update', 'declined', 'contradicts', 'agrees'],
    ['the capture of a captured hold', 'payment.capture.update', 'captured', 'agrees', 'contradicts'],
    ['the capture of a voided hold', 'payment.capture.update', 'voided', 'unknown', 'unknown'],
    ['the void of a voided hold', 'payment.void.update', 'voided', 'agrees', 'contradicts'],
    ['the void of a captured hold', 'payment.void.update', 'captured', 'unknown', 'unknown'],
    ['a refund', 'payment.refund.update', 'succeeded', 'unknown', 'unknown'],
    ['a charge of a flow without a status', 'payment.charge.update', undefined, 'unknown', 'unknown'],
    ['a type of another form', 'charge', 'succeeded', 'unknown', 'unknown'],
  ])(
    'is judged by the status alone where the result is not to be had: %s',
    (_of, eventType, status, success, failure) => {
      const flow: EndedFlow = { paymentId: 'p-1', ...(status !== undefined && { status }) };
      expect(judgeLateEvent(event({ eventType }), flow)).toBe(success);
      expect(judgeLateEvent(event({ eventType, status: 'Failed' }), flow)).toBe(failure);
      const open = success === 'unknown' ? 'unknown' : 'agrees';
      expect(judgeLateEvent(event({ eventType, status: 'Pending' }), flow)).toBe(open);
      expect(judgeLateEvent(event({ eventType, status: undefined }), flow)).toBe(open);
    },
  );
});
