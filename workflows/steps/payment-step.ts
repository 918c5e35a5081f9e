import type { CreatePaymentCall, PaymentTerms } from '../../src/contract/activity-calls.js';
import type { TransactionEvent } from '../../src/contract/messages.js';
import { idempotencyKey } from '../../src/contract/idempotency.js';
import { WIRE_DETAILS } from '../../src/contract/names.js';
import type { FinalStepOutcome } from '../../src/contract/outcome.js';
import { type BuyerInput, type PaymentInput, usesStoredCard } from '../../src/contract/payment-input.js';
import type { PaymentRecord } from '../../src/contract/records.js';
import { showMoney } from '../../src/domain/money.js';
import { postUntil } from '../../src/domain/schedules.js';
import { nextMessageEver, refusesWordOfAnother } from '../flow/inbox.js';
import { decidedOutcome, notExecuted } from '../flow/outcomes.js';
import { resumable } from '../flow/continue.js';
import { addBesidePayment } from '../flow/told.js';
import { decidesAfterReset } from '../kit/start-guard.js';
import { type FlowState, noteDeclines, noteRequestId, type StepKind } from '../flow/state.js';
import { noteWanted } from '../kit/outbox.js';
import { ignore } from '../kit/run.js';
import { enter } from '../flow/explain.js';
import { publish } from '../kit/visibility.js';
import { engineLookup } from '../policies.js';
import { attempt } from './attempt.js';
import { noteLimits } from './clear-outgoing.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { noteRevealed, revealsPayment } from './events.js';
import { classifyFailure } from './failures.js';
import { restoreMayHaveLost, stopIfCancelled, taskWasLost } from '../flow/earlier-runs.js';

/**
 * The payment of a flow. `readOnlyReason` says why nothing may be charged on it: its amount was never compared, and it may be
 * foreign.
 */
export interface CreatedPayment {
  payment: PaymentRecord;
  readOnlyReason?: string;
}

export type Created = CreatedPayment | { ended: FinalStepOutcome };

const FOUND_LATE = 'its payment became known by other ways than its own creation, so it was not charged';

const OF_EARLIER_FLOW = 'an earlier flow of this reference has made its payment, so nothing was sent on it';

/** What the business unit must offer. undefined if any business unit may be used. */
export function paymentTerms(
  input: { risk?: unknown; notify?: { url: string } | undefined } & Pick<BuyerInput, 'cardOnFile'>,
): PaymentTerms | undefined {
  const { risk, notify } = input;
  const storedCard = usesStoredCard(input);
  // A payment to be risk-analysed is created under the unit's risk unit.
  if (risk === undefined && !storedCard && notify === undefined) return undefined;
  return {
    ...(risk !== undefined && { risk: true }),
    ...(storedCard && { storedCard }),
    ...(notify !== undefined && { notifyUrl: notify.url }),
  };
}

/** Creates the payment of the flow, and attaches it. */
export async function openPayment(flow: FlowState, input: PaymentInput, terms?: PaymentTerms): Promise<Created> {
  const created = await createPayment(flow, input, terms);
  if (!('ended' in created)) attachPayment(flow, created.payment);
  return created;
}

/**
 * Creates the payment that all other operations need. It moves no money, so it is sent again until it is answered, but
 * only with the same body (money rule 4). Under its key the service repeats its first answer (API 1.3.0) or updates the
 * payment (1.2.0): in both cases amount and currency are compared before anything is charged on it.
 * @param sequence above 1 for the payment of a reauthorized hold
 */
export async function createPayment(
  flow: FlowState,
  input: PaymentInput,
  terms?: PaymentTerms,
  sequence = 1,
): Promise<Created> {
  const begin = (): CreatingNotes => ({});
  return await resumable(flow, 'createPayment', begin, async (notes) =>
    notes.askedOperator === undefined
      ? await sendPayment(flow, input, terms, sequence, notes)
      : await untilOperator(flow, notes.askedOperator, notes),
  );
}

interface CreatingNotes {
  /** Why only an operator can end this. */
  askedOperator?: string;
}

async function sendPayment(
  flow: FlowState,
  input: PaymentInput,
  terms: PaymentTerms | undefined,
  sequence: number,
  notes: CreatingNotes,
): Promise<Created> {
  await stopIfCancelled(flow);
  const sent = await attempt<PaymentRecord>(flow, {
    operation: 'createPayment',
    sequence,
    movesMoney: false,
    postUntil: postUntil(sequence === 1 ? flow.startedAt : flow.stepStartedAt, false),
    tryLocally: flow.localFirst && sequence === 1 && flow.startedByClient,
    post: (activities, call) =>
      activities.createPayment({
        ...call,
        payment: paymentBody(input),
        additionalDetails: { [WIRE_DETAILS.workflowId]: flow.workflowId },
        ...(sequence > 1 && flow.mayBeLost === true && { heldAt: flow.hold?.heldAt }),
        ...(terms !== undefined && { terms }),
      }),
  });
  if (sent.answer === undefined) return await notCreated(flow, sent.lastFailure, sequence, notes, sent.braked);
  const payment = sent.answer;
  flow.businessUnit = payment.businessUnit ?? flow.businessUnit;
  flow.madeUnder = payment.madeUnder ?? flow.madeUnder;
  noteWanted(flow, payment);
  noteDeclines(flow, payment);
  noteLimits(flow, payment);
  noteRequestId(flow, payment.requestId);
  if (payment.amount !== flow.amount || payment.currency !== flow.currency) {
    flow.paymentId = payment.paymentId;
    return await untilOperator(flow, wrongPayment(flow, payment), notes);
  }
  // A signed event shows a charge under our reference on another payment: a second charge could be a double charge.
  flow.revealed ??= revealedMeanwhile(flow, payment);
  if (flow.revealed !== undefined && flow.revealed.paymentId !== payment.paymentId)
    return readOnlyPayment(flow, flow.revealed);
  if (payment.ofEarlierFlow === true) return { payment, readOnlyReason: OF_EARLIER_FLOW };
  return { payment };
}

/**
 * Ends or finds a payment whose creation was not answered and won't be sent again. Nothing can have been charged,
 * unless a lost task or the run before a reset created and charged the payment: then that run's history, or an event,
 * may name it.
 */
export async function neverCreated(flow: FlowState, lastFailure: string): Promise<Created> {
  const begin = (): CreatingNotes => ({});
  return await resumable(flow, 'neverCreated', begin, async (notes) =>
    notes.askedOperator === undefined
      ? await notCreated(flow, lastFailure, 1, notes)
      : await untilOperator(flow, notes.askedOperator, notes),
  );
}

async function notCreated(
  flow: FlowState,
  lastFailure: string,
  sequence: number,
  notes: CreatingNotes,
  braked?: true,
): Promise<Created> {
  flow.inLocalTry = false;
  const key = sequence === 1 ? [] : [idempotencyKey(flow.workflowId, 'createPayment', sequence)];
  const refused: { taken?: Error } = {};
  const found = engineLookup.findEarlierPayment(...key).catch((failure: unknown) => {
    refused.taken = takenBy(failure);
    return undefined;
  });
  const earlier = decodedOrRetry(await found);
  if (earlier !== undefined) {
    flow.businessUnit = earlier.businessUnit ?? flow.businessUnit;
    flow.madeUnder = earlier.madeUnder ?? flow.madeUnder;
    noteWanted(flow, earlier);
    noteDeclines(flow, earlier);
    noteLimits(flow, earlier);
    return { payment: earlier, readOnlyReason: FOUND_LATE };
  }
  // A signed event has shown a charge on a payment that this run does not know: only reads of that one tell what has become of it.
  flow.revealed ??= revealedMeanwhile(flow);
  if (flow.paymentId === undefined && flow.revealed !== undefined) return readOnlyPayment(flow, flow.revealed);
  if (refused.taken !== undefined) throw refused.taken;
  // Later payments are never tried locally, so no lost task has sent them; only what a restore has lost may have.
  const isLost = await (sequence > 1 ? restoreMayHaveLost(flow.hold) : taskWasLost(flow));
  if (!flow.moneyPostMayHaveLeft && !decidesAfterReset() && !isLost) {
    return {
      ended: notExecuted(flow, {
        knownBy: 'reply',
        reason: `the payment could not be created: ${lastFailure}`,
        proof: 'no money operation was ever sent',
        braked,
      }),
    };
  }
  const why =
    sequence > 1
      ? `${isLost ? 'a run that a restore has lost' : 'the run before the reset'} may have authorized it again, on a payment ` +
        'that is not known: look at the service for another payment of this reference before you settle it'
      : 'it may have been charged in a task that was lost, and its payment is not known';
  return await untilOperator(flow, why, notes);
}

/** Another flow has used the reference: that ends this one as it would have on sending. */
function takenBy(failure: unknown): Error {
  const { next, error } = classifyFailure(failure);
  if (next !== 'final') throw failure;
  return error;
}

/** The creation was tried inside of the first task, where nothing takes the events that come meanwhile. */
function revealedMeanwhile(flow: FlowState, created?: PaymentRecord): TransactionEvent | undefined {
  // A hold that is authorized again has had a payment.
  if (flow.paymentId !== undefined) return undefined;
  const events = flow.inbox.flatMap((message) => (message.kind === 'event' ? [message.event] : []));
  const revealing = events.filter((event) => revealsPayment(flow, event));
  return revealing.find((event) => event.paymentId !== created?.paymentId);
}

function wrongPayment(flow: FlowState, payment: PaymentRecord): string {
  // The decimals of a foreign currency may be unknown, so the amount is shown in minor units.
  return (
    `the service created payment ${payment.paymentId} over ${payment.amount} minor units of ${payment.currency} ` +
    `instead of ${showMoney(flow.amount, flow.currency)}; nothing was charged on it by this flow`
  );
}

/** Nothing can be read and nothing may be sent: only an operator, or an event that names the payment, can end this. */
async function untilOperator(flow: FlowState, why: string, notes: CreatingNotes): Promise<Created> {
  notes.askedOperator = why;
  enter(flow, { status: 'unknown', waitingFor: 'operator', needsOperator: why, dueAt: null });
  flow.settleable = true;
  publish(flow);
  for (;;) {
    if (flow.paymentId === undefined && flow.revealed !== undefined) return readOnlyPayment(flow, flow.revealed);
    const message = await nextMessageEver(flow);
    if (message.kind === 'settle') {
      if (refusesWordOfAnother(flow, message.command)) continue;
      if (message.command.request.status !== 'succeeded' || MOVES_AT_ONCE.includes(flow.kind))
        return { ended: decidedOutcome(flow, message.command) };
      message.command.answer = {
        refusal:
          'money that is held on a payment which is not known can not be followed; void it first, then say `declined`',
      };
      continue;
    }
    if (message.kind !== 'event') continue;
    if (!noteRevealed(flow, message.event)) ignore(flow, 'onlyAnOperatorCanTell');
  }
}

/** Operations after whose success nothing is left to be done. */
const MOVES_AT_ONCE: readonly StepKind[] = ['charge', 'credit'];

/** Returns the payment that an event has named, which answers what an operator was asked. */
function readOnlyPayment(flow: FlowState, { paymentId }: TransactionEvent): Created {
  enter(flow, { needsOperator: flow.lasting ?? null });
  return {
    payment: { paymentId, amount: flow.amount, currency: flow.currency, status: 'unknown' },
    readOnlyReason: FOUND_LATE,
  };
}

/** The request body of the payment; the same at every attempt. */
function paymentBody(input: PaymentInput): CreatePaymentCall['payment'] {
  const { amount, currency, statementSoftDescriptor, customerId, order, billingAddress, shippingAddress } = input;
  return {
    amount,
    currency,
    ...(statementSoftDescriptor !== undefined && { statementSoftDescriptor }),
    ...(customerId !== undefined && { customerId }),
    ...(order !== undefined && { order }),
    ...(billingAddress !== undefined && { billingAddress }),
    ...(shippingAddress !== undefined && { shippingAddress }),
  };
}

/** Attaches the payment to the flow. A charge or authorization that an event has named on it exists. */
export function attachPayment(flow: FlowState, { paymentId }: PaymentRecord): void {
  // What an event has named on the payment before is no transaction of this one.
  if (flow.paymentId !== paymentId) Object.assign(flow, { hintedTransactionId: undefined, toldSinceRead: undefined });
  flow.paymentId = paymentId;
  if (flow.revealed?.paymentId === paymentId) flow.hintedTransactionId = flow.revealed.transactionId;
  // Whatever is under way takes no event of another payment.
  for (const message of flow.inbox) if (message.kind === 'event') addBesidePayment(flow, message.event);
}
