import { ActivityFailure } from '@temporalio/workflow';
import { canonical } from '../../src/contract/idempotency.js';
import type { RefundReading } from '../../src/contract/engine-port.js';
import { FAILURE_TYPES } from '../../src/contract/names.js';
import type { FinalStepOutcome } from '../../src/contract/outcome.js';
import type { BillNow, RefundPeriod } from '../../src/contract/subscription-commands.js';
import { dunningPolicyOf, attemptRefusal } from '../../src/domain/dunning.js';
import { showMoney } from '../../src/domain/money.js';
import { refunds } from '../policies.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { isAfterCancel } from './after-cancel.js';
import { doubtfulOf } from './bills.js';
import { classifyAttempt, endDoubt, isDead, isOtherCard, limitRefusal, noteDecline } from './classify-attempt.js';
import { openAhead } from './calendar.js';
import { billToRefund, refundOf } from './given-before.js';
import { isStarted } from './is-started.js';
import { readDoubtful } from './read-doubtful.js';
import {
  amountOf,
  type Billing,
  type CommandAnswer,
  type OpenPeriod,
  type Refusal,
  type SubscriptionCommand,
} from './state.js';
import { presentAnswer } from './show.js';

const REFUSALS = {
  unconfirmed:
    'nobody has confirmed that its last payment failed, so it may be taken twice; `settleManually` once that is known, or ' +
    'confirmRisk: true with who and why',
  unresolved: 'nobody knows yet whether its last payment has moved money',
  needsNewCard: 'its card was declined for good; change the card',
  needsPerson: 'somebody has to mend what was wrong first',
  noAttemptsLeft: 'it has been declined as often as the policy allows',
} as const;

export async function billNow(
  flow: Billing,
  command: SubscriptionCommand & { name: 'billNow' },
): Promise<Refusal | 'later'> {
  const { period } = command.request;
  const { open, next } = flow;
  const billed = flow.billed.find((one) => one.period === period);
  if (billed !== undefined) {
    return { refusal: `period ${period} has been billed by payment ${billed.paymentReference}` };
  }
  if (period <= flow.billedThrough) return { refusal: billedBefore(period) };
  if (flow.paused !== undefined) return { refusal: 'it is paused; resume it first' };
  // Refused before, it would charge now what was given up or left out.
  if (command.again === true && period === (open?.period ?? next) && !(await isStarted(flow)))
    return {
      refusal: `a reset gives it again, and period ${period} was not tried before: give it with another commandId`,
    };
  if (open?.period === period) {
    const refusal = tryRefusal(flow, open, command.request);
    if (refusal !== undefined) return refusal;
    if (isDead(flow) && !(await isStarted(flow))) return untriable(period, REFUSALS.needsNewCard);
    return tryNow(flow, open, command);
  }
  if (period !== next) return { refusal: `period ${period} is neither open nor the next one, which is ${next}` };
  if (open !== undefined) return { refusal: `period ${period} can not be billed while period ${open.period} is open` };
  if (flow.cancelAtPeriodEnd === true) {
    return { refusal: `it is cancelled at the end of the present period; period ${period} is not billed any more` };
  }
  const nothing = nothingToBill(flow, period);
  if (nothing !== undefined) return { refusal: `period ${period} ${nothing}` };
  // What a run before a reset has started with it is followed.
  if (flow.left?.hold === 'card' || (isDead(flow) && !(await isStarted(flow))))
    return untriable(period, REFUSALS.needsNewCard);
  const limit = limitRefusal(flow);
  if (limit !== undefined) return untriable(period, limit);
  if ((await openAhead(flow)) === undefined) return { refusal: `the plan ends before period ${period}` };
  flow.billing = command;
  return 'later';
}

function nothingToBill(flow: Billing, period: number): string | undefined {
  if (flow.skipped?.includes(period) === true) return 'is to be skipped; `skipPeriod` with undo takes that back';
  const amount = amountOf(flow, period);
  if (amount === undefined) return AWAITED;
  return amount === 0 ? 'costs nothing' : undefined;
}
const AWAITED = 'has no amount yet; give it by `setAmount`';

function billedBefore(period: number): string {
  return `period ${period} was billed before this subscription began (billedThrough)`;
}

function untriable(period: number, cause: string): Refusal {
  return { refusal: `period ${period} can not be tried: ${cause}` };
}

/** Why the open bill must not be tried now; undefined if it may, as far as its card is not asked for. */
function tryRefusal(flow: Billing, open: OpenPeriod, { confirmRisk }: BillNow): Refusal | undefined {
  const { period } = open;
  // An unanswered `billNow` is about to be tried again, with another card.
  if (flow.attempting || flow.billing !== undefined) {
    return { refusal: `a payment for period ${period} is under way` };
  }
  if (open.amountAwaited !== undefined) return { refusal: `period ${period} ${AWAITED}` };
  if (isAfterCancel(flow, open, Date.now()))
    return { refusal: 'it was cancelled, and nothing is billed after its end' };
  if (open.drop === true) return { refusal: `period ${period} is being given up, as the pause before said` };
  const policy = dunningPolicyOf(flow.input.dunning, flow.plan.interval);
  const refusal = attemptRefusal(open.state, policy, confirmRisk === true ? 'personAtRisk' : 'person');
  const cause = refusal === undefined ? limitRefusal(flow) : REFUSALS[refusal];
  return cause === undefined ? undefined : untriable(period, cause);
}

function tryNow(flow: Billing, open: OpenPeriod, command: SubscriptionCommand & { name: 'billNow' }): 'later' {
  const { who, why } = command.request;
  if (open.state.hold === 'confirmation' && who !== undefined && why !== undefined) {
    const risk = { payment: doubtfulOf(flow, open), who, why, at: new Date(Date.now()).toISOString() };
    open.confirmedRisks = [...(open.confirmedRisks ?? []), risk];
  }
  open.step = { do: 'attempt' };
  flow.billing = command;
  return 'later';
}

export async function refundPeriod(flow: Billing, commandId: string, request: RefundPeriod): Promise<CommandAnswer> {
  const { period, amount } = request;
  const begun = flow.refunding?.find((one) => one.commandId === commandId);
  const bill = billToRefund(flow, begun?.payment, period);
  if (bill === undefined) {
    if (period !== undefined && period <= flow.billedThrough)
      return { refusal: `${billedBefore(period)}: refund it by the payment that it was billed by` };
    const what = period === undefined ? 'no period has been billed' : `period ${period} was not billed`;
    const late = period === undefined ? '' : ', or too long ago: refund its payment';
    return { refusal: `${what} by this subscription${late}` };
  }
  if (request.currency !== undefined && request.currency !== flow.input.currency) {
    return {
      refusal: `currency: the subscription is over ${flow.input.currency}, not ${request.currency}; nothing was refunded`,
      type: FAILURE_TYPES.invalidInput,
    };
  }
  if (amount !== undefined && amount > bill.amount) {
    const { currency } = flow.input;
    const asked = showMoney(amount, currency);
    return {
      refusal: `amount: ${asked} is more than the ${showMoney(bill.amount, currency)} billed for period ${bill.period}`,
      type: FAILURE_TYPES.invalidInput,
    };
  }
  const payment = bill.paymentReference;
  const { confirmDisputed, who, why } = request;
  const call = {
    ...refundOf(flow, commandId, bill),
    amount,
    ...(who !== undefined && { who }),
    ...(why !== undefined && { why }),
    ...(confirmDisputed !== undefined && { confirmDisputed }),
  };
  if (begun === undefined)
    flow.refunding = [...(flow.refunding ?? []), { commandId, payment, request: canonical(request) }];
  let refunded: RefundReading;
  try {
    refunded = decodedOrRetry(await refunds.refundBill(call));
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return {
      refusal:
        `nobody has said how the refund stands (${error.cause?.message ?? error.message}); ` +
        'send the same command again, which refunds nothing twice',
      type: FAILURE_TYPES.providerUnavailable,
    };
  }
  if ('refused' in refunded) return { refusal: refunded.refused };
  return { ...presentAnswer(flow), result: { ...refunded, reference: payment, currency: flow.input.currency } };
}

/** Only for an attempt that can't be followed any more, or whose failure nobody has confirmed. */
export async function settle(
  flow: Billing,
  request: (SubscriptionCommand & { name: 'settleManually' })['request'],
): Promise<Refusal | undefined> {
  const { status, who, why, transactionId, category } = request as typeof request & {
    status: 'succeeded' | 'declined' | 'notExecuted';
  };
  const { open } = flow;
  const { step, state } = open ?? {};
  // Its wait may be over, and the bill about to be given up.
  const isUnconfirmed =
    step?.do === 'wait' ? step.for === 'confirmation' : step?.do === 'giveUp' && state?.hold === 'confirmation';
  const doubtful = step?.do === 'block' || isUnconfirmed;
  if (open === undefined || !doubtful || flow.attempting) return { refusal: 'no payment of it is in doubt' };
  const reference = doubtfulOf(flow, open);
  const seen = status === 'succeeded' ? {} : await readDoubtful(flow, open, request);
  if ('refusal' in seen) return seen;
  if ('succeeded' in seen) {
    await conclude(flow, open, step, seen.succeeded);
    return { refusal: `payment ${reference} has succeeded, and period ${open.period} is billed by it` };
  }
  const now = new Date(Date.now()).toISOString();
  const common = {
    reference,
    amount: open.amount,
    currency: flow.input.currency,
    ...(transactionId !== undefined && { transactionId }),
    evidence: {
      knownBy: 'operator' as const,
      requestIds: [],
      attempts: open.attempts,
      startedAt: now,
      settledAt: now,
      operator: { who, why },
    },
  };
  const outcome =
    status === 'declined'
      ? {
          ...common,
          status,
          category: category ?? 'operator',
          ...seen.declinedFor,
          retryable: 'newReference' as const,
          confirmed: true,
        }
      : status === 'succeeded'
        ? { ...common, status }
        : { ...common, status, reason: `an operator, ${who}: ${why}` };
  await conclude(flow, open, step, outcome);
  return undefined;
}

async function conclude(
  flow: Billing,
  open: OpenPeriod,
  step: OpenPeriod['step'] | undefined,
  outcome: FinalStepOutcome,
): Promise<void> {
  endDoubt(flow, open);
  // What nobody knew the end of counts for its card's limit only now; an unconfirmed decline has counted before.
  const triedWith = open.triedWith ?? flow.card.token;
  if (step?.do === 'block') noteDecline(flow, triedWith, { outcome });
  const of = open.doubtful === undefined ? {} : { number: open.doubtful };
  await classifyAttempt(flow, open, { outcome, ...of }, isOtherCard(triedWith, flow.card.token));
  correctAnswers(flow, outcome);
}

/** Corrects kept answers: a repeated `billNow` then returns what the payment in doubt has done. */
function correctAnswers({ answered }: Billing, { status, reference }: FinalStepOutcome): void {
  for (const { name, answer } of answered) {
    if (name !== 'billNow' || !('result' in answer)) continue;
    if (answer.result?.reference === reference) answer.result = { status, reference };
  }
}
