import { expect } from 'vitest';
import { isEnd, newPaymentRecord, type PaymentRecord, type Operation } from '../../tools/audit/payment-record.js';
import { auditPayments } from '../../tools/audit/audit-payments.js';
import type { LedgerEntry } from '../../tools/audit/ledger.js';
import { HoldfastError } from '../../src/client/index.js';
import type { HoldfastClient } from '../../src/client/holdfast-client.js';
import type { FlowStatus, Outcome } from '../../src/contract/messages.js';
import type { TestStack } from './stack.js';

/** A stack whose client notes what its callers are told. */
export interface StackWithExpectations extends TestStack {
  readonly expected: ExpectedLedger;
}

const MAKES = { charge: 'charge', authorize: 'authorization', credit: 'credit', storeCard: 'authorization' } as const;
const COMMANDS = ['capture', 'void', 'refund'] as const;

interface Money {
  reference: string;
  amount: number;
  currency: string;
  consent?: { by?: 'authorization' | 'charge' };
}
interface Command {
  payment: string | { payment: string };
  commandId?: string;
  reference?: string;
}
interface Question {
  operation: Operation;
  /** Of the payment, by reference or by id. */
  payment: string;
}

/** Not what they were asked for: nobody knows what became of it. */
const NO_REFUSALS: ReadonlySet<string> = new Set([
  'EngineUnavailable',
  'UnexpectedResponse',
  'FlowNotFound',
  'FlowStopped',
]);
/** True of any payment whose flow, or last command, has not ended yet. */
const WHILE_OPEN = /is still|are still held|nobody was told of|never ended/;

/**
 * What the callers of one test were told, against the ledger: which transaction each answer names, its kind, sum,
 * currency and status, that no intent moved money twice, and that no more was captured or refunded than was there.
 * The oracle is that of the campaigns; here a payment may be left open, and what a person or somebody else decided is
 * excepted by name.
 */
class ExpectedLedger {
  readonly #stack: TestStack;
  readonly #asked = new Map<string, { record: PaymentRecord }>();
  readonly #questions = new Map<string, Question>();
  readonly #excepted = new Map<string, RegExp>();
  #calls = 0;

  constructor(stack: TestStack) {
    this.#stack = stack;
  }

  /** In this test these sentences are true of this payment, and at least one of them must be: otherwise it fails. */
  except(reference: string, sentences: RegExp): void {
    this.#excepted.set(reference, sentences);
  }

  /** After each test, or once after tests that run at the same time. Begins again for what follows. */
  async check(): Promise<void> {
    const found = await this.#differences();
    const excepted = [...this.#excepted];
    this.#asked.clear();
    this.#questions.clear();
    this.#excepted.clear();
    const isExcepted = (sentence: string): boolean =>
      excepted.some(([reference, sentences]) => sentence.startsWith(`${reference}:`) && sentences.test(sentence));
    expect(found.filter((sentence) => !isExcepted(sentence))).toEqual([]);
    const needless = excepted.filter(([reference, sentences]) => {
      return !found.some((sentence) => sentence.startsWith(`${reference}:`) && sentences.test(sentence));
    });
    expect(needless).toEqual([]);
  }

  /** Notes what this call was told, and hands it on. */
  async note(name: string, args: readonly unknown[], answer: Promise<unknown>): Promise<unknown> {
    const question = this.#question(name, args);
    try {
      const given = await answer;
      if (question !== undefined) {
        question.operation.answer = given as Outcome;
        delete question.operation.refusal;
      }
      return given;
    } catch (error) {
      const isRefusal = error instanceof HoldfastError && !NO_REFUSALS.has(error.type);
      if (question !== undefined && isRefusal && question.operation.answer === undefined)
        question.operation.refusal = error;
      throw error;
    }
  }

  #question(name: string, args: readonly unknown[]): Question | undefined {
    const [first, second] = args;
    if (name in MAKES) {
      const input = first as Money;
      const { reference, amount, currency } = input;
      this.#calls += 1;
      const known = { number: this.#calls, scenario: expect.getState().currentTestName ?? '', profile: 'default' };
      // The first input is the payment's: what differs from it is a conflict, and no payment of its own.
      if (!this.#asked.has(reference)) {
        this.#asked.set(reference, { record: newPaymentRecord({ ...known, reference, amount, currency }) });
      }
      const what = name === 'storeCard' ? (input.consent?.by ?? 'authorization') : MAKES[name as keyof typeof MAKES];
      return this.#keep(`made ${reference} ${amount} ${currency}`, reference, { what, expected: 'any' });
    }
    const what = COMMANDS.find((command) => command === name);
    if (what === undefined) return undefined;
    const request = (what === 'refund' ? first : { payment: first, ...(second as object | undefined) }) as Command;
    const payment = typeof request.payment === 'string' ? request.payment : request.payment.payment;
    const id = request.commandId ?? request.reference ?? `call ${(this.#calls += 1)}`;
    return this.#keep(`${what} ${payment} ${id}`, payment, {
      what,
      expected: 'any',
      ...(request.commandId !== undefined && { commandId: request.commandId }),
      ...(request.reference !== undefined && { reconciliationId: request.reference }),
    });
  }

  /** One command asked for again is one question, to which the last answer counts. */
  #keep(key: string, payment: string, operation: Operation): Question {
    const question = this.#questions.get(key) ?? { operation, payment };
    this.#questions.set(key, question);
    return question;
  }

  async #differences(): Promise<string[]> {
    const ledger = await this.#stack.sandbox.ledger();
    const found: string[] = [];
    for (const [reference, { record }] of this.#asked) {
      const { status, unasked } = await this.#statusOf(reference);
      const paymentId = status?.paymentId ?? ledger.find((entry) => entry.reconciliation_id === reference)?.payment_id;
      const questions = [...this.#questions.values()].filter(
        ({ payment }) => payment === reference || payment === paymentId,
      );
      const operations = questions.map((question) => question.operation);
      // Without its status nothing that is only true of an ended flow is looked for.
      const isKnown = operations.some(({ answer }) => answer !== undefined);
      if (unasked !== undefined && (isKnown || !isAbsent(unasked)))
        found.push(`${reference}: its flow could not be asked: ${unasked.message}`);
      const isOpen =
        status?.outcome === undefined || operations.some(({ answer }) => answer !== undefined && !isFinal(answer));
      const whole: PaymentRecord = {
        ...record,
        operations: operations.filter(
          ({ answer, refusal }) => refusal !== undefined || (answer !== undefined && isFinal(answer)),
        ),
        terminated: true,
        ...(status?.outcome !== undefined && { outcome: status.outcome }),
        ...(paymentId !== undefined && { paymentId }),
      };
      const ofPayment = entriesOf(reference, ledger);
      const sentences = auditPayments([whole], ofPayment);
      found.push(...sentences.filter((sentence) => !isOpen || !WHILE_OPEN.test(sentence)));
    }
    return found;
  }

  async #statusOf(reference: string): Promise<{ status?: FlowStatus; unasked?: Error }> {
    try {
      return { status: await this.#stack.holdfast.status(reference) };
    } catch (error) {
      return { unasked: error instanceof Error ? error : new Error(String(error)) };
    }
  }
}

/** As of a payment whose start was refused. */
function isAbsent(error: Error): boolean {
  return error instanceof HoldfastError && error.type === 'FlowNotFound';
}

function isFinal(answer: Outcome): boolean {
  return isEnd(answer) || answer.status === 'authorized';
}

/** All transactions of each payment that was made under this reference. */
function entriesOf(reference: string, ledger: readonly LedgerEntry[]): LedgerEntry[] {
  const ids = new Set(ledger.filter((entry) => entry.reconciliation_id === reference).map((entry) => entry.payment_id));
  return ledger.filter((entry) => ids.has(entry.payment_id));
}

/** The same stack with a client that notes what it is told. Its `onLedger` are to be checked after each test. */
export function withExpectations(stack: TestStack): StackWithExpectations {
  const onLedger = new ExpectedLedger(stack);
  const holdfast = new Proxy(stack.holdfast, {
    get(client, name) {
      const value: unknown = Reflect.get(client, name, client);
      if (typeof value !== 'function') return value;
      const call = value.bind(client) as (...args: unknown[]) => Promise<unknown>;
      return (...args: unknown[]) => onLedger.note(String(name), args, call(...args));
    },
  }) satisfies HoldfastClient;
  return { ...stack, holdfast, expected: onLedger };
}
