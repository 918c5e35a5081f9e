import { HoldfastError } from '../../src/client/errors.js';
import type { AuthorizeInput } from '../../src/contract/authorize.js';
import type { PaymentClient, PlannedAnswer } from '../../tools/testing/in-memory-holdfast.js';
import type { CARDS } from '../support/charges.js';

/** Minor units whose captures and refunds the mock provider leaves pending. */
const PENDS = 2_500;
const WAIT = { waitFor: '20 seconds' } as const;

/** Calls about one payment, each told by a status or by the type of its error. */
export class Payment {
  readonly said: string[] = [];
  readonly #holdfast: PaymentClient;
  readonly #input: AuthorizeInput;
  /** Lets time pass until nothing is pending any more. */
  readonly settle: () => Promise<void>;

  constructor(holdfast: PaymentClient, input: AuthorizeInput, settle: () => Promise<void>) {
    this.#holdfast = holdfast;
    this.#input = input;
    this.settle = settle;
  }

  charge(): Promise<void> {
    const { reference, amount, currency, paymentMethod } = this.#input;
    return this.#note(this.#holdfast.charge({ reference, amount, currency, paymentMethod }, WAIT));
  }

  authorize(): Promise<void> {
    return this.#note(this.#holdfast.authorize(this.#input, WAIT));
  }

  capture(commandId: string, amount?: number): Promise<void> {
    const request = { commandId, ...(amount !== undefined && { amount }) };
    return this.#note(this.#holdfast.capture(this.#input.reference, request, WAIT));
  }

  void(commandId: string): Promise<void> {
    return this.#note(this.#holdfast.void(this.#input.reference, { commandId }, WAIT));
  }

  refund(commandId: string, amount?: number): Promise<void> {
    const request = { commandId, ...(amount !== undefined && { amount }) };
    return this.#note(this.#holdfast.refund({ payment: this.#input.reference, ...request }, WAIT));
  }

  async #note(call: Promise<{ status: string; nothingHeld?: true }>): Promise<void> {
    try {
      const { status, nothingHeld } = await call;
      this.said.push(nothingHeld === true ? `${status}, nothing held` : status);
    } catch (error) {
      if (!(error instanceof HoldfastError)) throw error;
      this.said.push(error.type);
    }
  }
}

interface Case {
  input?: Partial<AuthorizeInput>;
  card?: keyof typeof CARDS;
  /** Tells the client in memory what the mock provider does by itself. `flow` stands for the reference. */
  plans?: Record<string, PlannedAnswer[]>;
  calls: (payment: Payment) => Promise<void>;
  says: string[];
}

const pending = (times: number): PlannedAnswer[] => Array.from({ length: times }, () => ({ status: 'pending' }));
export const SUCCEEDED: PlannedAnswer = { status: 'succeeded' };
const DECLINED: PlannedAnswer = { status: 'declined' };

/** What both clients say. */
export const CASES: Record<string, Case> = {
  'a capture at once': {
    input: { captureMode: 'auto' },
    async calls(payment) {
      await payment.authorize();
      await payment.authorize();
      await payment.void('v');
      await payment.refund('r');
      await payment.void('r');
    },
    says: ['captured', 'captured', 'StateConflict', 'succeeded', 'ReferenceConflict'],
  },
  'a capture of too much, one of all, and what comes after it': {
    async calls(payment) {
      await payment.authorize();
      await payment.capture('a', 7_000);
      await payment.refund('b');
      await payment.capture('c');
      await payment.capture('c');
      await payment.capture('c', 5_000);
      await payment.settle();
      await payment.capture('d');
      await payment.void('e');
      await payment.authorize();
    },
    says: [
      ...['authorized', 'InvalidInput', 'StateConflict', 'succeeded', 'succeeded', 'ReferenceConflict'],
      ...['StateConflict', 'StateConflict', 'captured'],
    ],
  },
  'a void, and what comes after it': {
    async calls(payment) {
      await payment.authorize();
      await payment.void('v');
      await payment.void('v');
      await payment.settle();
      await payment.capture('c');
      await payment.void('w');
      await payment.refund('r');
      await payment.authorize();
    },
    says: ['authorized', 'succeeded', 'succeeded', 'StateConflict', 'StateConflict', 'StateConflict', 'voided'],
  },
  'a second part, and more than is left of the third': {
    input: { amount: 20_000 },
    async calls(payment) {
      await payment.authorize();
      await payment.capture('a', 6_000);
      await payment.settle();
      await payment.capture('b', 6_000);
      await payment.capture('c', 9_000);
      await payment.authorize();
      await payment.refund('r', 13_000);
    },
    says: ['authorized', 'succeeded', 'succeeded', 'InvalidInput', 'captured', 'InvalidInput'],
  },
  'a void, a capture and a refund beside a capture that is pending': {
    plans: { c: [...pending(3), SUCCEEDED] },
    async calls(payment) {
      await payment.authorize();
      await payment.capture('c', PENDS);
      await payment.void('v');
      await payment.capture('d', 6_000);
      await payment.refund('r');
      await payment.authorize();
      await payment.capture('c', PENDS);
      await payment.settle();
      await payment.capture('c', PENDS);
      await payment.authorize();
    },
    says: [
      ...['authorized', 'pending', 'StateConflict', 'StateConflict', 'StateConflict', 'pending', 'pending'],
      ...['succeeded', 'captured'],
    ],
  },
  'a void while the authorization is pending, which then succeeds': {
    card: 'pendsThenSucceeds',
    plans: { flow: [...pending(2), SUCCEEDED] },
    async calls(payment) {
      await payment.authorize();
      await payment.capture('x');
      await payment.refund('x');
      await payment.void('v');
      await payment.capture('x');
      await payment.void('w');
      await payment.settle();
      await payment.authorize();
      await payment.void('v');
      await payment.capture('x');
    },
    says: [
      ...['pending', 'StateConflict', 'StateConflict', 'unknown', 'StateConflict', 'StateConflict'],
      ...['voided', 'succeeded', 'StateConflict'],
    ],
  },
  'a void while an authorization with capture at once is pending': {
    card: 'pendsThenSucceeds',
    input: { captureMode: 'auto' },
    plans: { flow: [...pending(2), SUCCEEDED] },
    async calls(payment) {
      await payment.authorize();
      await payment.void('v');
      await payment.settle();
      await payment.authorize();
      await payment.refund('r');
    },
    says: ['pending', 'unknown', 'voided', 'StateConflict'],
  },
  'a void while the authorization is pending, which is then declined': {
    card: 'pendsThenFails',
    plans: { flow: [...pending(2), DECLINED] },
    async calls(payment) {
      await payment.authorize();
      await payment.void('v');
      await payment.settle();
      await payment.authorize();
      await payment.void('v');
      await payment.void('w');
    },
    says: ['pending', 'unknown', 'declined', 'declined, nothing held', 'StateConflict'],
  },
  'an authorization that is declined': {
    card: 'declines',
    plans: { flow: [DECLINED] },
    async calls(payment) {
      await payment.authorize();
      await payment.capture('c');
      await payment.void('v');
      await payment.refund('r');
    },
    says: ['declined', 'StateConflict', 'StateConflict', 'StateConflict'],
  },
  'a charge that is pending': {
    card: 'pendsThenSucceeds',
    plans: { flow: [...pending(2), SUCCEEDED] },
    async calls(payment) {
      await payment.charge();
      await payment.void('v');
      await payment.refund('r');
      await payment.capture('c');
      await payment.charge();
      await payment.settle();
      await payment.charge();
      await payment.capture('d');
      await payment.void('w');
      await payment.authorize();
    },
    says: [
      ...['pending', 'StateConflict', 'StateConflict', 'StateConflict', 'pending'],
      ...['succeeded', 'StateConflict', 'StateConflict', 'ReferenceConflict'],
    ],
  },
  'refunds of too much, of all, and of nothing left': {
    async calls(payment) {
      await payment.charge();
      await payment.refund('a', 7_000);
      await payment.refund('b');
      await payment.refund('b', 6_000);
      await payment.refund('c');
    },
    says: ['succeeded', 'InvalidInput', 'succeeded', 'ReferenceConflict', 'StateConflict'],
  },
  'refunds and a void beside a refund that is pending': {
    input: { amount: 14_500 },
    plans: { a: [...pending(6), SUCCEEDED] },
    async calls(payment) {
      await payment.charge();
      await payment.refund('a', PENDS);
      await payment.refund('b', 14_500);
      await payment.refund('b', 5_000);
      await payment.refund('c', 6_000);
      await payment.void('v');
      await payment.refund('a', PENDS);
      await payment.refund('b', 14_500);
      await payment.settle();
      await payment.refund('a', PENDS);
      await payment.refund('b', 14_500);
      await payment.refund('c', 6_000);
      await payment.refund('d');
      await payment.refund('e');
      await payment.void('v');
    },
    says: [
      ...['succeeded', 'pending', 'unknown', 'ReferenceConflict', 'unknown', 'unknown', 'pending', 'unknown'],
      ...['succeeded', 'InvalidInput', 'succeeded', 'succeeded', 'StateConflict', 'StateConflict'],
    ],
  },
  'a refund that was refused, given again once there is enough to refund': {
    input: { amount: 20_000 },
    async calls(payment) {
      await payment.authorize();
      await payment.capture('a', 6_000);
      await payment.settle();
      await payment.refund('r', 9_000);
      await payment.capture('b', 6_000);
      await payment.refund('r', 9_000);
      await payment.refund('r', 8_000);
    },
    says: ['authorized', 'succeeded', 'InvalidInput', 'succeeded', 'InvalidInput', 'ReferenceConflict'],
  },
};
