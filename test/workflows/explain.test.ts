import { ApplicationFailure } from '@temporalio/common';
import { describe, expect, test } from 'vitest';
import type { Evidence } from '../../src/contract/outcome.js';
import type { FinalOutcome } from '../../src/contract/messages.js';
import { explain } from '../../workflows/flow/explain.js';
import type { FlowState, Hold } from '../../workflows/flow/state.js';
import { newState } from '../../workflows/flow/new-state.js';

const STARTED = Date.UTC(2027, 0, 31, 10);

function flow(changes: Partial<FlowState> = {}, type: FlowState['type'] = 'charge'): FlowState {
  return {
    ...newState({
      type,
      workflowId: 'payment-order-1001',
      reference: 'order-1001',
      amount: 1_095,
      currency: 'KWD',
      businessUnit: 'default',
      fingerprint: '',
      kind: type === 'charge' ? 'charge' : 'authorization',
      startedAt: STARTED,
      startedByClient: true,
      startedWith: undefined,
    }),
    ...changes,
  };
}

const evidence: Evidence = {
  knownBy: 'poll',
  requestIds: ['q-1', 'q-2'],
  attempts: 2,
  startedAt: '2027-01-31T10:00:00.000Z',
  settledAt: '2027-01-31T10:05:00.000Z',
};
const base = { reference: 'order-1001', amount: 1_095, currency: 'KWD', evidence };
const declined = { ...base, status: 'declined', category: 'payment_method_declined', confirmed: true } as const;
const ofCard = { ...base, customerId: 'c-1', token: 't-1' };
const notStored = {
  ...ofCard,
  status: 'consentedNotStored',
  code: 'refused',
  reason: 'the service refused it',
} as const;
const held = { ...base, authorizationId: 'a-1' };

const REPEAT = 'Safe to repeat under a new reference.';
const NOTHING = 'Nothing to do.';

/** Operators act on the last sentence, so that a wrong one costs money. */
describe('what is said to be safe', () => {
  test.each<[string, FinalOutcome, string]>([
    ['notExecuted', { ...base, status: 'notExecuted', reason: 'no charge was ever made' }, REPEAT],
    [
      'a decline of which the card may recover',
      { ...declined, retryable: 'newReference' },
      'The same card may be tried again under a new reference.',
    ],
    ['a decline of this card', { ...declined, retryable: 'newCard' }, 'Only another card may be tried.'],
    [
      "a decline that is nobody's to repeat",
      { ...declined, retryable: 'nobody' },
      'Do not repeat before the cause is mended.',
    ],
    [
      'a decline that nobody has confirmed',
      { ...declined, retryable: 'nobody', confirmed: false },
      'Nobody has confirmed that it failed: look at the provider whether money moved before anything is repeated.',
    ],
    ['a success', { ...base, status: 'succeeded' }, NOTHING],
    ['a capture', { ...held, status: 'captured', capturedAmount: 1_000 }, NOTHING],
    ['a void', { ...held, status: 'voided', reason: 'command' }, NOTHING],
    ['an expired hold', { ...held, status: 'expired', reason: 'deadline' }, NOTHING],
    ['a card on file', { ...ofCard, status: 'stored', money: { status: 'voided' } }, NOTHING],
    ['a card not on file whose consent was refunded', { ...notStored, money: { status: 'refunded' } }, NOTHING],
    [
      'a card not on file whose consent was not refunded',
      { ...notStored, money: { status: 'notRefunded', why: 'refused' } },
      'Refund the charge: by `refund`, or at the provider.',
    ],
  ])('after %s', (_what, outcome, says) => {
    // What was waited for before says nothing any more.
    for (const before of [{}, { settleable: true }, { waitingFor: 'review' }, { needsOperator: 'late' }] as const) {
      expect(explain(flow({ ...before, outcome }))).toMatch(new RegExp(`[.:] ?${literally(says)}$`));
    }
  });

  test.each<[string, Partial<FlowState>, string]>([
    [
      'a start that was refused',
      { failure: ApplicationFailure.nonRetryable('amount: is 0', 'InvalidInput') },
      'Safe to repeat under a new reference, with the fault mended.',
    ],
    [
      'a reference that another run has',
      { failure: ApplicationFailure.nonRetryable('earlier run', 'ReferenceConflict') },
      'Ask the earlier run what happened before you repeat anything.',
    ],
    ['a call under way', {}, 'Safe: wait, or `retryNow`. Never repeat it under a new reference.'],
    [
      'credentials that are rejected',
      { waitingFor: 'credentials' },
      'Safe: wait, or `retryNow`. Never repeat it under a new reference.',
    ],
    [
      'a lost reply',
      { waitingFor: 'proof', settleable: true, status: 'unknown' },
      'Safe: wait, `retryNow` (looks at once), or `settleManually` with what you know. Never repeat it under a new reference.',
    ],
    [
      'a pending transaction',
      { waitingFor: 'settlement', settleable: true, status: 'pending' },
      'Safe: wait, `retryNow` (looks at once), or `settleManually` with what you know. Never repeat it under a new reference.',
    ],
    [
      'a review',
      { waitingFor: 'review', status: 'underReview' },
      'Safe: wait, `decideReview`, or `retryNow` (looks at once).',
    ],
    ["an ended payment's commands", { waitingFor: 'command' }, 'Safe: wait, or give the next command.'],
    [
      'money that is held',
      { waitingFor: 'capture', status: 'authorized', held: { captureBy: '2027-02-06', heldUntil: '2027-02-07' } },
      'Safe: `capture`, `void`, or wait.',
    ],
    [
      'a capture under way',
      { waitingFor: 'provider', status: 'capturing', held: { captureBy: '2027-02-06', heldUntil: '2027-02-07' } },
      'Safe: wait, or `retryNow`. Never repeat it under a new reference.',
    ],
  ])('during %s', (_what, changes, says) => {
    const said = explain(flow(changes));
    expect(said.endsWith(` ${says}`)).toBe(true);
    // What may have moved is never called safe to repeat.
    if (changes.failure === undefined) expect(said).not.toContain('Safe to repeat');
  });
});

describe('what is told', () => {
  test('names the money as its currency is written, the reference, and since when', () => {
    expect(explain(flow())).toBe(
      'Charge of 1.095 KWD, order-1001: a call to the payment service is under way or being retried with the same ' +
        'idempotency key (since 2027-01-31T10:00:00.000Z). Safe: wait, or `retryNow`. Never repeat it under a new reference.',
    );
    expect(explain(flow({ amount: 1_095, currency: 'JPY' } as Partial<FlowState>))).toContain('Charge of 1095 JPY,');
  });

  test('says how an end is known: by whom, when, by which transaction and requests, and after how many sends', () => {
    const outcome: FinalOutcome = { ...declined, transactionId: 't-1', retryable: 'nobody', confirmed: false };
    expect(explain(flow({ outcome }))).toContain(
      'declined (payment_method_declined), never confirmed by the provider, known by poll at 2027-01-31T10:05:00.000Z, ' +
        'transaction t-1, requests q-1 q-2, 2 sends of it',
    );
  });

  test('says what became of the part of a hold that was not taken', () => {
    const captured = { ...held, status: 'captured', capturedAmount: 1_000 } as const;
    const by = { amount: 95, by: 'void', transactionId: 'v-1' } as const;
    expect(explain(flow({ outcome: { ...captured, released: by } }))).toContain(
      'captured 1.000 KWD; 0.095 KWD were voided,',
    );
    const late = { amount: 95, by: 'expiry', at: '2027-02-07', why: 'no void was taken' } as const;
    expect(explain(flow({ outcome: { ...captured, released: late } }))).toContain(
      '0.095 KWD are released by the provider at 2027-02-07',
    );
  });

  test('says what a call of a flow that stores a card is about', () => {
    const says = (changes: Partial<FlowState>): string => explain(flow(changes, 'storeCard'));
    expect(says({ callsAbout: 'customer' })).toContain(
      'the customer is being found or created; nothing has been charged',
    );
    expect(says({ callsAbout: 'payment' })).toContain('a call to the payment service is under way');
    expect(says({ callsAbout: 'card', waitingFor: 'proof' })).toContain(
      'the buyer has consented, and the card is being put on file',
    );
    expect(says({ callsAbout: 'card', waitingFor: 'credentials' })).not.toContain('put on file');
  });

  test('says what a capture has taken while the rest of the hold is being released', () => {
    const hold = { taken: { transactionId: 'c-1', amount: 1_000 } } as Hold;
    expect(explain(flow({ status: 'captured', hold }, 'authorizeAndCapture'))).toContain(
      'captured 1.000 KWD by c-1; what that has left of the hold is being released',
    );
  });

  test('says that a cancel was received, what an operator is needed for, and when it looks next, until it has ended', () => {
    const waits = { cancelRequested: true, needsOperator: 'the lists differ', dueAt: STARTED + 60_000 };
    const said = explain(flow(waits));
    expect(said).toContain('Next look at 2027-01-31T10:01:00.000Z.');
    expect(said).toContain('Needs an operator: the lists differ.');
    expect(said).toContain('a payment under way is not abandoned');
    const over = explain(flow({ ...waits, outcome: { ...base, status: 'succeeded' } }));
    expect(over).not.toMatch(/Next look|not abandoned/);
  });
});

function literally(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
