import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { HoldfastError } from '../../src/client/errors.js';
import type { HoldfastClient } from '../../src/client/holdfast-client.js';
import { requireNamed } from '../../src/client/named-payment.js';
import { checkInput } from '../../src/client/start-options.js';
import type { AuthorizeInput, AuthorizeOutcome } from '../../src/contract/authorize.js';
import type { ChargeInput, ChargeOutcome, CreditInput, CreditOutcome } from '../../src/contract/charge.js';
import { FLOWS, type RepeatableFlow } from '../../src/contract/flows.js';
import { canonical } from '../../src/contract/idempotency.js';
import {
  type CaptureCommand,
  captureCommandSchema,
  type RefundCommand,
  refundCommandSchema,
  type VoidCommand,
  voidCommandSchema,
} from '../../src/contract/messages.js';
import type { FinalStepOutcome, OutcomeBase, Pending, Unknown } from '../../src/contract/outcome.js';
import {
  allowedOf,
  type Command,
  type CommandName,
  endOfHold,
  isHeld,
  moneyMovedBy,
  type Operation,
  type Payment,
  type PlannedAnswer,
  presented,
  refused,
  underWay,
} from './in-memory-payment.js';

export type { PlannedAnswer } from './in-memory-payment.js';

/** What a service needs of the client to take payments: declare this, and give it either client. */
export type PaymentClient = Pick<
  HoldfastClient,
  'charge' | 'authorize' | 'credit' | 'capture' | 'void' | 'refund' | 'close'
>;

type PaymentRef = Parameters<PaymentClient['capture']>[0];
type CommandAnswer = Awaited<ReturnType<PaymentClient['capture']>>;

/** How long an authorization is said to be held, in ms. */
const HOLD_MS = 7 * 86_400_000;

/**
 * The client in memory, for tests of a service: no Temporal, no payment service, nothing to wait for. It checks inputs as
 * the real one does, keeps a reference to one payment, a command id to one command, and judges captures, voids and
 * refunds by the real one's sums. Everything succeeds unless {@link plan} says otherwise.
 *
 * Nothing goes on by itself. Each call moves what it asks for, or what that waits for, on by one planned answer.
 */
export class InMemoryHoldfast implements PaymentClient {
  readonly #payments = new Map<string, Payment>();
  readonly #plans = new Map<string, PlannedAnswer[]>();

  /**
   * Says how the flow of this reference goes, or the command of this command id: one answer for each time that it is
   * asked, the last one for good.
   */
  plan(referenceOrCommandId: string, ...answers: [PlannedAnswer, ...PlannedAnswer[]]): this {
    this.#plans.set(referenceOrCommandId, answers);
    return this;
  }

  /** Minor units taken by the payment of this reference, refunds subtracted; of a credit, minor units given. */
  moneyMoved(reference: string): number {
    const payment = this.#payments.get(reference);
    return payment === undefined ? 0 : moneyMovedBy(payment);
  }

  /** As in the real client. @throws HoldfastError `InvalidInput`, `ReferenceConflict` */
  async charge(input: ChargeInput): Promise<ChargeOutcome> {
    return this.#ask(this.#open(FLOWS.charge, input, 'charge').made);
  }

  /** As in the real client. @throws HoldfastError `InvalidInput`, `ReferenceConflict` */
  async credit(input: CreditInput): Promise<CreditOutcome> {
    return this.#ask(this.#open(FLOWS.credit, input, 'credit').made);
  }

  /**
   * Answers `authorized` while the money is held and nothing is under way, then how the hold has ended.
   * @throws HoldfastError `InvalidInput`, `ReferenceConflict`
   */
  async authorize(input: AuthorizeInput): Promise<AuthorizeOutcome> {
    const payment = this.#open(FLOWS.authorizeAndCapture, input, 'authorization');
    const { base } = payment;
    const answer = this.#askFlow(payment);
    if (answer.status !== 'succeeded') return answer;
    const end = endOfHold(payment);
    if (end === undefined) {
      const busy = underWay(payment);
      if (busy !== undefined) return this.#meanwhile(base, busy);
      const heldUntil = new Date(Date.parse(answer.evidence.settledAt) + HOLD_MS).toISOString();
      return { ...base, status: 'authorized', waitingFor: 'capture', captureBy: heldUntil, heldUntil };
    }
    const { evidence } = end.ended.outcome ?? answer;
    const ended = { ...base, authorizationId: answer.transactionId ?? '', evidence: { ...evidence } };
    if (end.name === 'void') return { ...ended, status: 'voided', reason: 'command' };
    return { ...ended, status: 'captured', capturedAmount: end.ended.base.amount };
  }

  /** As in the real client. @throws HoldfastError `InvalidInput`, `StateConflict`, `FlowNotFound`, `ReferenceConflict` */
  async capture(ref: PaymentRef, request: CaptureCommand = {}): Promise<CommandAnswer> {
    return this.#command('capture', ref, checkInput(captureCommandSchema, request));
  }

  /** As in the real client. @throws HoldfastError `InvalidInput`, `StateConflict`, `FlowNotFound`, `ReferenceConflict` */
  async void(ref: PaymentRef, request: VoidCommand = {}): Promise<CommandAnswer> {
    return this.#command('void', ref, checkInput(voidCommandSchema, request));
  }

  /** As in the real client. @throws HoldfastError `InvalidInput`, `StateConflict`, `FlowNotFound`, `ReferenceConflict` */
  async refund({ payment, ...request }: Parameters<PaymentClient['refund']>[0]): Promise<CommandAnswer> {
    return this.#command('refund', payment, checkInput(refundCommandSchema, request));
  }

  async close(): Promise<void> {}

  #open<Schema extends z.ZodType<object>>(
    flow: RepeatableFlow<'charge' | 'authorizeAndCapture' | 'credit', Schema>,
    input: object,
    kind: Payment['kind'],
  ): Payment {
    const parsed = checkInput(flow.schema, input);
    const { reference, amount, currency, businessUnit } = flow.subject(parsed);
    const fingerprint = `${flow.type} ${flow.fingerprint(parsed)}`;
    const known = this.#payments.get(reference);
    if (known !== undefined && known.fingerprint !== fingerprint)
      throw new HoldfastError('ReferenceConflict', `reference "${reference}" belongs to another request`);
    if (known !== undefined) return known;
    const base = { reference, amount, currency, paymentId: randomUUID() };
    const payment: Payment = {
      fingerprint,
      base,
      units: 'risk' in parsed && parsed.risk !== undefined ? [] : [businessUnit],
      kind,
      made: { base, planId: reference },
      capturesItself: 'captureMode' in parsed && parsed.captureMode === 'auto',
      commands: new Map(),
    };
    this.#payments.set(reference, payment);
    return payment;
  }

  /** A final answer is given again for ever. */
  #ask(operation: Operation): FinalStepOutcome | Pending | Unknown {
    if (operation.outcome === undefined) {
      const [first = { status: 'succeeded' }, ...rest] = this.#plans.get(operation.planId) ?? [];
      if (rest.length > 0) this.#plans.set(operation.planId, rest);
      const answer = presented(operation.base, first);
      if (answer.status === 'pending' || answer.status === 'unknown') operation.open = answer;
      else operation.outcome = answer;
    }
    // A copy, so that no caller changes what the next one is told.
    return structuredClone(operation.outcome ?? (operation.open as Pending | Unknown));
  }

  /** The answer to whoever waits for an operation: how that is now. It moves on for the next call. */
  #meanwhile(base: OutcomeBase, operation: Operation): Pending | Unknown {
    const { status = 'unknown', waitingFor = 'proof' } = operation.open ?? {};
    this.#ask(operation);
    return { ...base, status, waitingFor };
  }

  /** Once it is known whether money is held, a void that came before is done. */
  #askFlow(payment: Payment): FinalStepOutcome | Pending | Unknown {
    const wasOpen = payment.made.outcome === undefined;
    const answer = this.#ask(payment.made);
    const { outcome } = payment.made;
    const [early] = payment.commands;
    if (!wasOpen || early === undefined || outcome === undefined) return answer;
    const [commandId, command] = early;
    command.sent = { base: payment.base, planId: commandId };
    if (outcome.status === 'succeeded') this.#ask(command.sent);
    else if (outcome.status === 'declined' && !outcome.confirmed) payment.commands.delete(commandId);
    else command.sent.outcome = { ...outcome, nothingHeld: true };
    return answer;
  }

  #command(name: CommandName, ref: PaymentRef, request: VoidCommand | CaptureCommand | RefundCommand): CommandAnswer {
    const payment = this.#find(ref);
    const { commandId: id, reference, amount, captureId } = request as RefundCommand;
    const commandId = id ?? reference ?? randomUUID();
    const before = payment.commands.get(commandId);
    const command: Command = before ?? { name, request: canonical(request) };
    if (command.name !== name || command.request !== canonical(request))
      throw new HoldfastError('ReferenceConflict', `command "${commandId}" was already given with another request`);
    if (command.sent !== undefined) return named(this.#ask(command.sent), commandId);
    if (command.refusal !== undefined) throw command.refusal;
    const base = { ...payment.base, amount: amount ?? payment.base.amount };
    if (payment.made.outcome === undefined) {
      if (before === undefined) requireEarlyVoid(payment, name);
      payment.commands.set(commandId, command);
      this.#askFlow(payment);
      return { ...base, status: 'unknown', waitingFor: 'proof', commandId };
    }
    const busy = underWay(payment);
    if (busy !== undefined) {
      if (isHeld(payment)) throw refused('the flow is at work on the money that it holds');
      payment.commands.set(commandId, command);
      // What it waits for may be pending; of its own nothing is known yet.
      return { ...this.#meanwhile(base, busy), status: 'unknown', commandId };
    }
    const allowed = allowedOf(payment, name, amount, captureId);
    if ('refusal' in allowed) {
      // A flow that holds money refuses a command before it takes it.
      const isKept = !isHeld(payment) && allowed.notYet !== true;
      if (isKept) payment.commands.set(commandId, { ...command, refusal: allowed.refusal });
      throw allowed.refusal;
    }
    command.sent = { base: { ...payment.base, amount: allowed.amount }, planId: commandId, captureId };
    payment.commands.set(commandId, command);
    return named(this.#ask(command.sent), commandId);
  }

  #find(ref: PaymentRef): Payment {
    const name = typeof ref === 'string' ? ref : ref.payment;
    const found = this.#payments.get(name) ?? [...this.#payments.values()].find(({ base }) => base.paymentId === name);
    if (found !== undefined) {
      const { currency } = found.base;
      if (typeof ref !== 'string') requireNamed({ ...ref, paymentId: name }, { currency, units: found.units });
      return found;
    }
    throw new HoldfastError('FlowNotFound', `No flow with reference "${name}" is known`);
  }
}

function named(answer: FinalStepOutcome | Pending | Unknown, commandId: string): CommandAnswer {
  return answer.status === 'pending' || answer.status === 'unknown' ? { ...answer, commandId } : answer;
}

/** Before it is known whether money is held, one void is taken and kept, and nothing else. */
function requireEarlyVoid({ kind, made, commands }: Payment, name: CommandName): void {
  if (commands.size > 0)
    throw refused('a void has been asked for, and is done as soon as it is known that money is held');
  if (kind !== 'authorization' || name !== 'void')
    throw refused(`a ${kind} that is ${made.open?.status ?? 'unknown'} takes no ${name}`);
}
