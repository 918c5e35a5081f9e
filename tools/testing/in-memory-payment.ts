import { randomUUID } from 'node:crypto';
import { HoldfastError } from '../../src/client/errors.js';
import type { Evidence, FinalStepOutcome, OutcomeBase, Pending, Unknown } from '../../src/contract/outcome.js';
import { retryableBy } from '../../src/domain/decline.js';
import { showMoney } from '../../src/domain/money.js';
import { allowedAmount, type CaptureSums, type Sums } from '../../src/domain/payment-sums.js';

/** How an operation goes. After `pending` and `unknown` the same call is answered with what follows. */
export type PlannedAnswer =
  | { status: 'succeeded' }
  | { status: 'pending' }
  | { status: 'unknown' }
  | {
      status: 'declined';
      /** Default `payment_method_declined`. It decides about `retryable`, with `subCategory`. */
      category?: string;
      subCategory?: string;
      /** `false`: nobody could be asked, so that money may have moved. Default true. */
      confirmed?: boolean;
    }
  | { status: 'notExecuted'; reason?: string };

export type CommandName = 'capture' | 'void' | 'refund';

/** One thing that was sent. */
export interface Operation {
  /** `amount` is its own. */
  readonly base: OutcomeBase;
  /** Under which its answers are planned. */
  readonly planId: string;
  /** Of a refund: the capture that it refunds, if it names one. */
  readonly captureId?: string | undefined;
  /** What it was answered last, as long as that was not final. */
  open?: Pending | Unknown;
  outcome?: FinalStepOutcome;
}

export interface Command {
  readonly name: CommandName;
  /** In canonical form. */
  readonly request: string;
  /** undefined while it waits for another operation, or was refused. */
  sent?: Operation;
  /** Of the flow that takes commands once nothing is held any more: its answer to each repeat. */
  refusal?: HoldfastError;
}

export interface Payment {
  readonly fingerprint: string;
  readonly kind: 'charge' | 'authorization' | 'credit';
  readonly base: OutcomeBase & { paymentId: string };
  /** Empty with `risk`: only a worker knows the unit that such a payment is made under. */
  readonly units: readonly string[];
  /** The operation of its flow. */
  readonly made: Operation;
  readonly capturesItself: boolean;
  /** By command id. */
  readonly commands: Map<string, Command>;
}

export function presented(base: OutcomeBase, planned: PlannedAnswer): FinalStepOutcome | Pending | Unknown {
  if (planned.status === 'pending') return { ...base, status: 'pending', waitingFor: 'settlement' };
  if (planned.status === 'unknown') return { ...base, status: 'unknown', waitingFor: 'proof' };
  const now = new Date().toISOString();
  const evidence: Evidence = { knownBy: 'reply', requestIds: [], attempts: 1, startedAt: now, settledAt: now };
  if (planned.status === 'notExecuted')
    return { ...base, status: 'notExecuted', reason: planned.reason ?? 'planned', evidence };
  const made = { ...base, transactionId: randomUUID(), evidence };
  if (planned.status === 'succeeded') return { ...made, status: 'succeeded' };
  const { status, category = 'payment_method_declined', subCategory, confirmed = true } = planned;
  const retryable = confirmed ? retryableBy(category, subCategory) : 'nobody';
  return { ...made, status, category, ...(subCategory !== undefined && { subCategory }), retryable, confirmed };
}

/** The command that is under way, of which there is one at a time. */
export function underWay({ commands }: Payment): Operation | undefined {
  return sentBy(commands).find(({ outcome }) => outcome === undefined);
}

/** What has ended the hold: its own capture, the first by command, or a void. */
export function endOfHold(payment: Payment): { name: 'capture' | 'void'; ended: Operation } | undefined {
  if (payment.made.outcome?.status !== 'succeeded') return undefined;
  if (hasCapturedItself(payment)) return { name: 'capture', ended: payment.made };
  for (const { name, sent } of payment.commands.values())
    if (sent?.outcome?.status === 'succeeded' && name !== 'refund') return { name, ended: sent };
  return undefined;
}

/** Of an authorization that has succeeded. */
export function isHeld(payment: Payment): boolean {
  const { kind, made } = payment;
  return kind === 'authorization' && made.outcome?.status === 'succeeded' && endOfHold(payment) === undefined;
}

/** A void that came before the hold is done first. */
function hasCapturedItself({ capturesItself, made, commands }: Payment): boolean {
  return capturesItself && hasMoved(made) && !sentBy(commands, 'void').some(mayHaveMoved);
}

/** The amount that a command moves, by the rules of the real one, or why it is refused. */
export function allowedOf(
  payment: Payment,
  name: CommandName,
  asked: number | undefined,
  captureId?: string,
): { amount: number } | { refusal: HoldfastError; notYet?: true } {
  const show = (amount: number): string => showMoney(amount, payment.base.currency);
  const sums = sumsOf(payment);
  const isOpen = isHeld(payment);
  if (isOpen && name === 'capture' && sums.capturedAtMost > 0)
    return { refusal: refused('a capture failed without confirmation; another could take the money twice') };
  const capture = captureId === undefined ? undefined : sumsOfCapture(payment, captureId);
  if (captureId !== undefined && capture === undefined)
    return { refusal: refused(`captureId: the payment has no capture ${captureId}`, 'InvalidInput') };
  // Of an open hold that a capture has perhaps taken, the rest is let go by a void.
  const allowed = allowedAmount(name, asked, isOpen ? { ...sums, capturedAtMost: 0 } : sums, show, capture);
  if ('amount' in allowed) return allowed;
  const { refusal, badInput, ...rest } = allowed;
  return { refusal: refused(refusal, badInput === true ? 'InvalidInput' : 'StateConflict'), ...rest };
}

export function refused(why: string, type: 'InvalidInput' | 'StateConflict' = 'StateConflict'): HoldfastError {
  return new HoldfastError(type, `Refused: ${why}`);
}

/** Minor units taken, refunds subtracted; of a credit, minor units given. */
export function moneyMovedBy(payment: Payment): number {
  if (payment.kind === 'credit') return madeBy(payment);
  return sumsOf(payment).captured - sumOf(payment, 'refund', hasMoved);
}

function sumsOf(payment: Payment): Sums {
  const isTaken = payment.kind === 'charge' || hasCapturedItself(payment);
  const taken = isTaken ? madeBy(payment) : 0;
  return {
    authorized: payment.kind === 'authorization' ? madeBy(payment) : 0,
    captured: taken + sumOf(payment, 'capture', hasMoved),
    capturedAtMost: taken + sumOf(payment, 'capture', mayHaveMoved),
    refunded: sumOf(payment, 'refund', mayHaveMoved),
    voided: sumOf(payment, 'void', hasMoved) > 0,
    showsVoided: false,
  };
}

function sumsOfCapture(payment: Payment, captureId: string): CaptureSums | undefined {
  const isIt = (sent: Operation): boolean => sent.outcome?.transactionId === captureId;
  const captured = sumOf(payment, 'capture', (sent) => isIt(sent) && hasMoved(sent));
  if (captured === 0) return undefined;
  return { captured, refunded: sumOf(payment, 'refund', (sent) => sent.captureId === captureId && mayHaveMoved(sent)) };
}

function madeBy({ made }: Payment): number {
  return hasMoved(made) ? made.base.amount : 0;
}

function sumOf({ commands }: Payment, wanted: CommandName, counts: (sent: Operation) => boolean): number {
  return sentBy(commands, wanted)
    .filter(counts)
    .reduce((sum, { base }) => sum + base.amount, 0);
}

function sentBy(commands: Payment['commands'], wanted?: CommandName): Operation[] {
  return [...commands.values()].flatMap(({ name, sent }) =>
    sent === undefined || (wanted !== undefined && name !== wanted) ? [] : [sent],
  );
}

function hasMoved({ outcome }: Operation): boolean {
  return outcome?.status === 'succeeded';
}

/** What is under way counts as done, and so does a failure that nobody has confirmed. */
function mayHaveMoved({ outcome }: Operation): boolean {
  return (
    outcome === undefined || outcome.status === 'succeeded' || (outcome.status === 'declined' && !outcome.confirmed)
  );
}
