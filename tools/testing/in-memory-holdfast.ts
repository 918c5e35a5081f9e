import { randomUUID } from 'node:crypto';
import type { z } from 'zod';
import { HoldfastError } from '../../src/client/errors.js';
import type { HoldfastClient } from '../../src/client/holdfast-client.js';
import { checkInput } from '../../src/client/start-options.js';
import type { AuthorizeInput, AuthorizeOutcome } from '../../src/contract/authorize.js';
import type { ChargeInput, ChargeOutcome, CreditInput, CreditOutcome } from '../../src/contract/charge.js';
import { FLOWS, type RepeatableFlow } from '../../src/contract/flows.js';
import {
  type CaptureCommand,
  captureCommandSchema,
  type RefundCommand,
  refundCommandSchema,
  type VoidCommand,
  voidCommandSchema,
} from '../../src/contract/messages.js';
import type { Evidence, FinalStepOutcome, OutcomeBase, Pending, Unknown } from '../../src/contract/outcome.js';

/** What a service needs of the client to take payments: declare this, and give it either client. */
export type PaymentClient = Pick<
  HoldfastClient,
  'charge' | 'authorize' | 'credit' | 'capture' | 'void' | 'refund' | 'close'
>;

type CommandAnswer = Awaited<ReturnType<PaymentClient['capture']>>;
type CommandName = 'capture' | 'void' | 'refund';

/** How an operation goes. After `pending` and `unknown` the same call is answered with what follows. */
export type PlannedAnswer =
  | { status: 'succeeded' }
  | { status: 'pending' }
  | { status: 'unknown' }
  | { status: 'declined'; category?: string; retryable?: 'newReference' | 'newCard' | 'nobody' }
  | { status: 'notExecuted'; reason?: string };

interface Payment {
  readonly fingerprint: string;
  readonly base: OutcomeBase & { paymentId: string };
  readonly kind: 'charge' | 'authorization' | 'credit';
  outcome?: FinalStepOutcome;
  /** Minor units. */
  captured: number;
  refunded: number;
  isVoided: boolean;
  readonly commands: Map<string, { request: string; outcome?: FinalStepOutcome }>;
}

/**
 * The client in memory, for tests of a service: no Temporal, no payment service, nothing to wait for. It checks inputs as
 * the real one does, keeps a reference to one payment, a command id to one command, and the sums of captures and
 * refunds. Everything succeeds unless {@link plan} says otherwise.
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
    return payment === undefined ? 0 : payment.captured - payment.refunded;
  }

  /** As in the real client. @throws HoldfastError `InvalidInput`, `ReferenceConflict` */
  async charge(input: ChargeInput): Promise<ChargeOutcome> {
    const payment = this.#open(FLOWS.charge, input, 'charge');
    const answer = this.#ask(payment, payment.base.reference);
    if (answer.status === 'succeeded') payment.captured = payment.base.amount;
    return answer;
  }

  /** As in the real client. @throws HoldfastError `InvalidInput`, `ReferenceConflict` */
  async credit(input: CreditInput): Promise<CreditOutcome> {
    const payment = this.#open(FLOWS.credit, input, 'credit');
    const answer = this.#ask(payment, payment.base.reference);
    if (answer.status === 'succeeded') payment.captured = payment.base.amount;
    return answer;
  }

  /**
   * Answers `authorized`, or `captured` with `captureMode: "auto"` and after a capture.
   * @throws HoldfastError `InvalidInput`, `ReferenceConflict`
   */
  async authorize(input: AuthorizeInput): Promise<AuthorizeOutcome> {
    const payment = this.#open(FLOWS.authorizeAndCapture, input, 'authorization');
    const answer = this.#ask(payment, payment.base.reference);
    if (answer.status !== 'succeeded') return answer;
    if (input.captureMode === 'auto') payment.captured = payment.base.amount;
    const ended = { ...payment.base, authorizationId: answer.transactionId ?? '', evidence: answer.evidence };
    if (payment.captured > 0) return { ...ended, status: 'captured', capturedAmount: payment.captured };
    if (payment.isVoided) return { ...ended, status: 'voided', reason: 'command' };
    const heldUntil = new Date(Date.parse(answer.evidence.settledAt) + 7 * 86_400_000).toISOString();
    return { ...payment.base, status: 'authorized', waitingFor: 'capture', captureBy: heldUntil, heldUntil };
  }

  /** As in the real client. @throws HoldfastError `InvalidInput`, `StateConflict`, `FlowNotFound`, `ReferenceConflict` */
  async capture(ref: Parameters<PaymentClient['capture']>[0], request: CaptureCommand = {}): Promise<CommandAnswer> {
    const checked = checkInput(captureCommandSchema, request);
    return this.#command('capture', ref, checked, (payment) => {
      const { amount, currency } = payment.base;
      const wanted = checked.amount ?? amount;
      if (!isHeld(payment)) return `nothing is held on it any more, so nothing can be captured`;
      if (wanted > amount) return `${wanted} is more than the authorized ${amount} ${currency} (minor units)`;
      return { amount: wanted, done: () => (payment.captured = wanted) };
    });
  }

  /** As in the real client. @throws HoldfastError `InvalidInput`, `StateConflict`, `FlowNotFound`, `ReferenceConflict` */
  async void(ref: Parameters<PaymentClient['void']>[0], request: VoidCommand = {}): Promise<CommandAnswer> {
    return this.#command('void', ref, checkInput(voidCommandSchema, request), (payment) =>
      isHeld(payment)
        ? { amount: payment.base.amount, done: () => (payment.isVoided = true) }
        : 'nothing is held on it any more, so nothing can be voided',
    );
  }

  /** As in the real client. @throws HoldfastError `InvalidInput`, `StateConflict`, `FlowNotFound`, `ReferenceConflict` */
  async refund({ payment: ref, ...request }: Parameters<PaymentClient['refund']>[0]): Promise<CommandAnswer> {
    const checked: RefundCommand = checkInput(refundCommandSchema, request);
    return this.#command('refund', ref, checked, (payment) => {
      const left = payment.kind === 'credit' ? 0 : payment.captured - payment.refunded;
      const wanted = checked.amount ?? left;
      if (wanted > left || left === 0) return `${wanted} is more than the ${left} that can be refunded (minor units)`;
      return { amount: wanted, done: () => (payment.refunded += wanted) };
    });
  }

  async close(): Promise<void> {}

  #open<Schema extends z.ZodType<object>>(
    flow: RepeatableFlow<'charge' | 'authorizeAndCapture' | 'credit', Schema>,
    input: object,
    kind: Payment['kind'],
  ): Payment {
    const parsed = checkInput(flow.schema, input);
    const { reference, amount, currency } = flow.subject(parsed);
    const fingerprint = `${flow.type} ${flow.fingerprint(parsed)}`;
    const known = this.#payments.get(reference);
    if (known !== undefined && known.fingerprint !== fingerprint)
      throw new HoldfastError('ReferenceConflict', `reference "${reference}" belongs to another request`);
    const payment = known ?? {
      fingerprint,
      base: { reference, amount, currency, paymentId: randomUUID() },
      kind,
      captured: 0,
      refunded: 0,
      isVoided: false,
      commands: new Map(),
    };
    this.#payments.set(reference, payment);
    return payment;
  }

  /** A final answer is given again for ever. */
  #ask(payment: { outcome?: FinalStepOutcome; base: OutcomeBase }, id: string): FinalStepOutcome | Pending | Unknown {
    if (payment.outcome !== undefined) return payment.outcome;
    const answer = presented(payment.base, this.#next(id));
    if (answer.status !== 'pending' && answer.status !== 'unknown') payment.outcome = answer;
    return answer;
  }

  #next(id: string): PlannedAnswer {
    const [first, ...rest] = this.#plans.get(id) ?? [];
    if (rest.length > 0) this.#plans.set(id, rest);
    return first ?? { status: 'succeeded' };
  }

  #command(
    name: CommandName,
    ref: Parameters<PaymentClient['capture']>[0],
    request: { commandId?: string | undefined; reference?: string | undefined },
    judge: (payment: Payment) => string | { amount: number; done: () => void },
  ): CommandAnswer {
    const payment = this.#find(ref);
    const commandId = request.commandId ?? request.reference ?? randomUUID();
    const asked = JSON.stringify([name, request]);
    const before = payment.commands.get(commandId);
    if (before !== undefined && before.request !== asked)
      throw new HoldfastError('ReferenceConflict', `command "${commandId}" was already given with another request`);
    if (before?.outcome !== undefined) return before.outcome;
    const judged = judge(payment);
    if (typeof judged === 'string') throw new HoldfastError('StateConflict', `Refused: ${judged}`);
    const base = { ...payment.base, amount: judged.amount };
    const command: { request: string; base: OutcomeBase; outcome?: FinalStepOutcome } = { request: asked, base };
    const answer = this.#ask(command, commandId);
    payment.commands.set(commandId, command);
    if (answer.status === 'succeeded') judged.done();
    return answer;
  }

  #find(ref: Parameters<PaymentClient['capture']>[0]): Payment {
    const name = typeof ref === 'string' ? ref : ref.payment;
    const found = this.#payments.get(name) ?? [...this.#payments.values()].find(({ base }) => base.paymentId === name);
    if (found !== undefined) return found;
    throw new HoldfastError('FlowNotFound', `No flow with reference "${name}" is known`);
  }
}

function isHeld({ kind, outcome, captured, isVoided }: Payment): boolean {
  return kind === 'authorization' && outcome?.status === 'succeeded' && captured === 0 && !isVoided;
}

function presented(base: OutcomeBase, planned: PlannedAnswer): FinalStepOutcome | Pending | Unknown {
  if (planned.status === 'pending') return { ...base, status: 'pending', waitingFor: 'settlement' };
  if (planned.status === 'unknown') return { ...base, status: 'unknown', waitingFor: 'proof' };
  const now = new Date().toISOString();
  const evidence: Evidence = { knownBy: 'reply', requestIds: [], attempts: 1, startedAt: now, settledAt: now };
  if (planned.status === 'notExecuted')
    return { ...base, status: 'notExecuted', reason: planned.reason ?? 'planned', evidence };
  const made = { ...base, transactionId: randomUUID(), evidence };
  if (planned.status === 'succeeded') return { ...made, status: 'succeeded' };
  const { status, category = 'payment_method_declined', retryable = 'newReference' } = planned;
  return { ...made, status, category, retryable, confirmed: true };
}
