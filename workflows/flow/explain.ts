import { ApplicationFailure, setCurrentDetails } from '@temporalio/workflow';
import type { ConsentedNotStored, Stored } from '../../src/contract/cards.js';
import { FLOWS } from '../../src/contract/flows.js';
import { FAILURE_TYPES } from '../../src/contract/names.js';
import type { RiskVerdict } from '../../src/contract/outcome.js';
import type { FinalOutcome } from '../../src/contract/messages.js';
import { showMoney } from '../../src/domain/money.js';
import { noteNeed } from '../kit/outbox.js';
import { change, type Change, publish } from '../kit/visibility.js';
import { announce } from './announce.js';
import type { FlowState } from './state.js';

/** Changes what a person sees of the flow, says it anew and tells the merchant. Only `publish` updates the search attributes. */
export function enter(flow: FlowState, changed: Change): void {
  const wasNeeded = flow.needsOperator !== undefined;
  change(flow, changed);
  noteNeed(flow, wasNeeded);
  setCurrentDetails(explain(flow));
  announce(flow);
}

/** Why an operator has to look whatever the flow does next. */
export function showLasting(flow: FlowState): void {
  if (flow.lasting === undefined || flow.needsOperator === flow.lasting) return;
  enter(flow, { needsOperator: flow.lasting });
  publish(flow);
}

/** What a person was asked is over. What they must look at whatever the flow does next is asked again. */
export function takeBackReason(flow: FlowState, changed: Omit<Change, 'needsOperator'> = {}): void {
  enter(flow, { ...changed, needsOperator: flow.lasting ?? null });
  publish(flow);
}

/** One or two sentences for a person: what, since when, what it waits for, until when, what is safe to do. */
export function explain(flow: FlowState): string {
  const money = showMoney(flow.amount, flow.currency);
  const since = new Date(flow.since).toISOString();
  const parts = [`${FLOWS[flow.type].name} of ${money}, ${flow.reference}: ${sentence(flow)} (since ${since}).`];
  if (flow.outcome === undefined && flow.dueAt !== undefined) {
    parts.push(`Next look at ${new Date(flow.dueAt).toISOString()}.`);
  }
  if (flow.needsOperator !== undefined) parts.push(`Needs an operator: ${flow.needsOperator}.`);
  if (flow.dispute !== undefined)
    parts.push(
      `The payment is disputed, known by ${flow.dispute.knownBy} since ${flow.dispute.at}: a refund of it needs \`confirmDisputed\`, who and why.`,
    );
  if (flow.cancelRequested && flow.outcome === undefined) {
    parts.push('A cancel was asked for; it is recorded, but a payment under way is not abandoned.');
  }
  if (flow.keepsVoid && flow.outcome === undefined && flow.queue.some(({ name }) => name === 'void'))
    parts.push('A void was asked for: nothing more is sent, and what is held is voided as soon as that is known.');
  const kept = flow.outcome === undefined ? (flow.unplaced ?? []).filter(({ asked }) => asked !== undefined).length : 0;
  if (kept > 0) parts.push(`${kept === 1 ? '1 event is' : `${kept} events are`} kept until their flow is found.`);
  parts.push(safeToDo(flow));
  return parts.join(' ');
}

function sentence(flow: FlowState): string {
  const { outcome } = flow;
  if (outcome !== undefined) return ended(outcome);
  if (flow.failure !== undefined) return `refused, this run moved no money: ${flow.failure.message}`;
  if (flow.waitingFor === 'provider' || flow.waitingFor === 'proof') {
    if (flow.callsAbout === 'customer') return 'the customer is being found or created; nothing has been charged';
    if (flow.callsAbout === 'card')
      return 'the buyer has consented, and the card is being put on file: tried and looked for until that is known';
  }
  const taken = flow.hold?.taken;
  if (taken !== undefined)
    return `captured ${showMoney(taken.amount, flow.currency)} by ${taken.transactionId}; what that has left of the hold is being released`;
  const until = flow.held === undefined ? '' : ` until ${flow.held.captureBy}`;
  switch (flow.waitingFor) {
    case 'provider':
      return 'a call to the payment service is under way or being retried with the same idempotency key';
    case 'settlement':
      return `${named(flow)} ${flow.transactionId ?? '?'} is pending; an event, a poll or an operator ends it`;
    case 'redirect':
      return `the buyer has been sent to another page and has not come back; ${named(flow)} ${flow.transactionId ?? '?'} is pending`;
    case 'proof':
      return `the answer to the ${flow.kind} was lost, so the flow reads until it finds the transaction or proves that there is none`;
    case 'capture':
      return `the money is held; \`capture\` or \`void\` is awaited${until}`;
    case 'captureSoonDue':
      return `the money is held, and the deadline is near or past: \`capture\` or \`void\` is awaited${until}`;
    case 'review':
      return 'a risk review is open; the risk provider, `decideReview` or its time limit ends it';
    case 'command':
      return 'nothing is under way; the next command is awaited';
    case 'flow':
      return 'the event waits for its flow';
    case 'approval':
      return 'nothing of it has been sent; it is above a limit of its business unit and waits for another person to approve it';
    case 'credentials':
      return 'nothing is sent until the keys and settings of the business unit are right; then the flow goes on by itself';
    case 'referenceBook':
      return 'nothing is sent until the reference book can be reached; then the flow goes on by itself';
    case 'brake':
      if (flow.brakedBy === undefined)
        return 'nothing of it was sent: its business unit is braked; it is sent after the release';
      return `the answer to the ${flow.kind} was lost, and it is only looked for: ${flow.brakedBy}`;
    case 'operator':
      return 'only a person can say what happened';
    // Only subscriptions use these, and they explain themselves.
    case 'period':
    case 'retry':
    case 'card':
    case 'amount':
    case 'nothing':
      return flow.status;
    default:
      return flow.waitingFor satisfies never;
  }
}

function ended(outcome: FinalOutcome): string {
  const evidence = evidenceOf(outcome);
  switch (outcome.status) {
    case 'succeeded':
      return `succeeded, ${evidence}`;
    case 'declined': {
      const why = outcome.subCategory === undefined ? outcome.category : `${outcome.category}/${outcome.subCategory}`;
      return `declined (${why}), ${outcome.confirmed ? '' : 'never confirmed by the provider, '}${evidence}`;
    }
    case 'notExecuted':
      return `not executed, no money moved: ${outcome.reason}, ${evidence}`;
    case 'captured': {
      const { capturedAmount, currency, released } = outcome;
      const rest =
        released === undefined
          ? ''
          : `; ${showMoney(released.amount, currency)} ${released.by === 'void' ? 'were voided' : `are released by the provider at ${released.at} (${released.why})`}`;
      return `captured ${showMoney(capturedAmount, currency)}${rest}, ${evidence}`;
    }
    case 'voided':
    case 'expired':
      return `${outcome.status} without a capture (${outcome.reason}), ${evidence}`;
    case 'stored':
      return `the card is on file with customer ${outcome.customerId}${consentOf(outcome)}${moneyOf(outcome)}, ${evidence}`;
    case 'consentedNotStored':
      return `the buyer has consented, but the card is not on file: ${outcome.reason}${moneyOf(outcome)}, ${evidence}`;
    case 'approve':
    case 'review':
    case 'decline':
      return `risk says ${verdictOf(outcome.risk)}, ${evidence}`;
    default:
      return outcome satisfies never;
  }
}

/** Mentions the consent id, which later transactions need, only if it is missing. */
function consentOf({ consentIdMissing }: Stored): string {
  return consentIdMissing === undefined ? '' : `; without a consent id: ${consentIdMissing}`;
}

function moneyOf({ money: { status, why } }: Stored | ConsentedNotStored): string {
  return `; the money of the consent: ${status}${why === undefined ? '' : ` (${why})`}`;
}

function verdictOf({ decision, score, decidedBy, operator }: RiskVerdict): string {
  const by = operator === undefined ? decidedBy : `${operator.who}: ${operator.why}`;
  return `${decision}${score === undefined ? '' : ` with score ${score}`}, decided by ${by}`;
}

/** How the result is known (money rule 10), for a person who has to defend it. */
function evidenceOf({ transactionId, evidence, risk }: FinalOutcome): string {
  const { knownBy, operator, approved, proof, requestIds, attempts, settledAt } = evidence;
  return [
    `known by ${knownBy} at ${settledAt}`,
    operator && `decided by ${operator.who}: ${operator.why}`,
    approved && `approved by ${approved.who}: ${approved.why}`,
    proof,
    transactionId && `transaction ${transactionId}`,
    requestIds.length > 0 && `requests ${requestIds.join(' ')}`,
    `${attempts} ${attempts === 1 ? 'send' : 'sends'} of it`,
    risk && `risk: ${verdictOf(risk)}`,
  ]
    .filter(Boolean)
    .join(', ');
}

const SAY_WHAT_YOU_KNOW =
  'Safe: wait, `retryNow` (looks at once), or `settleManually` with what you know. Never repeat it under a new reference.';

function safeToDo(flow: FlowState): string {
  const { outcome } = flow;
  if (outcome?.status === 'notExecuted' && flow.lasting === undefined) return 'Safe to repeat under a new reference.';
  if (outcome?.status === 'declined') {
    if (flow.lasting !== undefined)
      return `Look at the provider, and ${flow.kind === 'authorization' ? '`void` what is held' : '`refund` what nobody wants taken'}.`;
    if (!outcome.confirmed)
      return 'Nobody has confirmed that it failed: look at the provider whether money moved before anything is repeated.';
    if (outcome.retryable === 'newReference') return 'The same card may be tried again under a new reference.';
    return outcome.retryable === 'newCard'
      ? 'Only another card may be tried.'
      : 'Do not repeat before the cause is mended.';
  }
  if (outcome?.status === 'consentedNotStored' && outcome.money.status === 'notRefunded')
    return 'Refund the charge: by `refund`, or at the provider.';
  if (flow.unplaced !== undefined && flow.lasting !== undefined)
    return 'Look at the payment at the provider; `retryNow` then takes the flag away. Commands are taken meanwhile.';
  if (isReferenceConflict(flow.failure)) return 'Ask the earlier run what happened before you repeat anything.';
  if (flow.settleable && flow.status === 'authorized') return SAY_WHAT_YOU_KNOW;
  if (flow.lasting !== undefined && flow.status === 'authorized')
    return 'Look at the provider what was captured before you `capture` or `void` what is held.';
  if (flow.lasting !== undefined) return 'Look at both at the provider; `refund` what nobody wants taken.';
  if (outcome !== undefined) return 'Nothing to do.';
  if (flow.failure !== undefined) return 'Safe to repeat under a new reference, with the fault mended.';
  if (flow.waitingFor === 'approval')
    return 'Safe: `approve` or `reject` it, `retryNow` once the limits have changed, or wait: then it is refused.';
  if (flow.waitingFor === 'command') return 'Safe: wait, or give the next command.';
  if (flow.waitingFor === 'review') return 'Safe: wait, `decideReview`, or `retryNow` (looks at once).';
  if (flow.held !== undefined && flow.status === 'authorized') return 'Safe: `capture`, `void`, or wait.';
  if (flow.settleable) return SAY_WHAT_YOU_KNOW;
  return 'Safe: wait, or `retryNow`. Never repeat it under a new reference.';
}

function isReferenceConflict(failure: Error | undefined): boolean {
  return failure instanceof ApplicationFailure && failure.type === FAILURE_TYPES.referenceConflict;
}

/** A charge's transaction is named without its kind, because nothing else can be meant. */
function named({ kind }: FlowState): string {
  return kind === 'charge' ? 'transaction' : kind;
}
