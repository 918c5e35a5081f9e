import { ApplicationFailure, setHandler, workflowInfo } from '@temporalio/workflow';
import { FAILURE_TYPES, WORKFLOW_TYPES } from '../../src/contract/names.js';
import { FLOWS } from '../../src/contract/flows.js';
import { type OutcomeRequest, outcomeRequestSchema } from '../../src/contract/messages.js';
import type { BillsAndSchedule } from '../../src/contract/subscription-bills.js';
import type { ParsedSubscriptionInput } from '../../src/contract/subscription.js';
import type { SubscriptionOutcome } from '../../src/contract/subscription-commands.js';
import { periodsBilledBefore } from '../../src/domain/billed-through.js';
import { planOf } from '../../src/domain/billing-calendar.js';
import { newOutbox } from '../kit/outbox.js';
import { answerQueries, awaitOutcome, countUnknownSignals } from '../kit/run.js';
import { onUpdate } from '../kit/requests.js';
import { billsQuery, subscriptionOutcomeUpdate } from '../messages.js';
import { billsOf } from './bills.js';
import { registerSubscriptionCommands, refuseQuestion } from './commands.js';
import { amountsOf, carriedAmounts } from './carried-state.js';
import { watchReset } from './given-again.js';
import { givenBefore } from './given-before.js';
import { registerMoveOn } from './move-on.js';
import { registerPaymentDisputed } from './payment-disputed.js';
import { explainSubscription, refresh, presentSubscription, subscriptionStatus } from './show.js';
import { type Billing, type Carried, CARRIED_VERSION, isKnown, type Unopened, UNOPENED } from './state.js';

/** The state of a subscription, its handlers registered before the first await: an update without one would be rejected. */
export function newSubscription(input: ParsedSubscriptionInput, carried: Carried | Unopened | undefined): Billing {
  const flow = newBilling(input, carried?.v === UNOPENED ? undefined : carried);
  if (carried?.v === UNOPENED) {
    flow.since = carried.startedAt;
    if (carried.afterReset === true) flow.afterReset = true;
    for (const given of carried.commands ?? []) {
      // A copy, because its answer is written into it.
      const command = { ...given };
      flow.commands.set(command.commandId, command);
      flow.queue.push(command);
    }
  }
  answerQueries(
    () => subscriptionStatus(flow),
    () => explainSubscription(flow),
  );
  onUpdate(subscriptionOutcomeUpdate, outcomeRequestSchema, {
    description: 'Where it stands, once it has been found in order',
    validate: (request) => validateOutcome(flow, request),
    answer: (request) => answerOutcome(flow, request),
  });
  setHandler(billsQuery, () => billsAndGiven(flow), {
    description: 'What has become of each period, and what is to come',
  });
  registerSubscriptionCommands(flow);
  registerMoveOn(flow);
  registerPaymentDisputed(flow);
  countUnknownSignals(flow);
  refresh(flow);
  watchReset(flow);
  return flow;
}

function billsAndGiven(flow: Billing): BillsAndSchedule {
  const given = givenBefore(flow);
  return { ...billsOf(flow), ...(given !== undefined && { given }) };
}

function newBilling(input: ParsedSubscriptionInput, carried: Carried | undefined): Billing {
  const { token, consentTransactionId } = input;
  const plan = planOf(input);
  const billedThrough = periodsBilledBefore(plan, input.billedThrough);
  const fresh: Carried = {
    v: CARRIED_VERSION,
    plan,
    ...carriedAmounts([{ fromPeriod: 1, amount: input.amount ?? 0 }, ...(input.amounts ?? [])]),
    card: { token, ...(consentTransactionId !== undefined && { consentTransactionId }) },
    next: billedThrough + 1,
    billed: [],
    counts: { billed: 0, unpaid: 0, missed: 0 },
    answered: [],
  };
  const { workflowId, startTime } = workflowInfo();
  // A copy, because the engine's object must not be changed.
  const before = JSON.parse(JSON.stringify(carried ?? fresh)) as Carried;
  const { v: _v, telling, amount: _amount, earlierAmounts: _earlier, ...kept } = before;
  return {
    ...kept,
    amounts: amountsOf(before),
    outbox: telling ?? newOutbox(input.notify),
    handingOver: false,
    input: { ...input, ...kept.terms },
    businessUnit: input.businessUnit,
    billedThrough,
    workflowId,
    fingerprint: FLOWS.subscription.fingerprint(input),
    status: carried === undefined ? 'started' : 'active',
    waitingFor: 'provider',
    needsOperator: undefined,
    since: startTime.getTime(),
    dueAt: undefined,
    upcoming: kept.upcoming,
    endsAt: undefined,
    queue: [],
    commands: new Map(),
    isCancelled: () => false,
    opened: carried !== undefined,
    ended: undefined,
    failure: undefined,
    closedOne: false,
    inLocalTry: false,
    billing: undefined,
    pendingEnd: undefined,
    worked: 0,
    attempting: false,
    updatesTaken: 0,
    canContinue: false,
    movesOn: false,
    ignored: {},
    leaving: false,
  };
}

function validateOutcome(flow: Billing, { type, fingerprint }: OutcomeRequest): void {
  if (type === WORKFLOW_TYPES.subscription && fingerprint === flow.fingerprint) {
    refuseQuestion(flow);
    return;
  }
  throw ApplicationFailure.nonRetryable(
    `Reference "${flow.input.reference}" already belongs to a subscription that was started with other terms (card, ` +
      'amount, calendar or dunning): change that one by its commands; a new reference is only for another subscription',
    FAILURE_TYPES.referenceConflict,
  );
}

async function answerOutcome(flow: Billing, request: OutcomeRequest): Promise<SubscriptionOutcome> {
  flow.updatesTaken += 1;
  await awaitOutcome(flow, request, () => isKnown(flow));
  if (flow.failure !== undefined) throw flow.failure;
  return presentSubscription(flow);
}
