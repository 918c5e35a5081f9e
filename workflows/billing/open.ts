import {
  ApplicationFailure,
  CancellationScope,
  setDefaultSignalHandler,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import { FAILURE_TYPES } from '../../src/contract/failure-types.js';
import { FLOWS } from '../../src/contract/flows.js';
import { type OutcomeRequest, outcomeRequestSchema } from '../../src/contract/messages.js';
import { WORKFLOW_TYPES } from '../../src/contract/names.js';
import type { ParsedSubscriptionInput } from '../../src/contract/subscription.js';
import type { SubscriptionOutcome } from '../../src/contract/subscription-outcome.js';
import { planOf } from '../../src/domain/billing-plan.js';
import { isUndecodable } from '../../src/contract/undecodable.js';
import { awaitOutcome } from '../flow/await-outcome.js';
import { parse, parseAccepted, whateverIsCancelled } from '../flow/refuse.js';
import { invalidInput, parseStart } from '../flow/start-guard.js';
import { explainQuery, subscriptionOutcomeUpdate, statusQuery } from '../messages.js';
import { registerSubscriptionCommands } from './commands.js';
import { explainSubscription } from './explain-subscription.js';
import { refuseQuestion } from './places.js';
import { refuseSubscriptionStart } from './refuse-start.js';
import { refresh } from './show.js';
import { type Billing, type Carried, CARRIED_VERSION, type Unopened, UNOPENED } from './state.js';
import { presentSubscription, subscriptionStatus } from './view.js';

/**
 * Opens the flow of a subscription, or refuses its start.
 * @throws ApplicationFailure `InvalidInput` with every fault; Error if an earlier run may have billed
 */
export async function openSubscription(raw: unknown, carried: Carried | Unopened | undefined): Promise<Billing> {
  const later = workflowInfo().continuedFromExecutionRunId !== undefined;
  try {
    const input = parseStart(FLOWS.subscription, raw);
    if (!later && carried !== undefined) throw invalidInput(['a second argument is for later runs only']);
    if (isUndecodable(carried)) throw invalidInput(["what the run before left can't be decoded"]);
    // Starting over would bill paid periods again; state of a later version would lose fields.
    if (later && carried?.v !== CARRIED_VERSION && carried?.v !== UNOPENED)
      throw invalidInput(['nothing that it can read was left by the run before']);
    const flow = openFlow(input, carried);
    const scope = CancellationScope.current();
    flow.isCancelled = () => scope.consideredCancelled;
    scope.cancelRequested.catch(() => undefined);
    return flow;
  } catch (failure) {
    // An earlier run may have billed: what this worker can't read fails the task and waits for another worker.
    if (later) throw new Error(`This worker can't go on: ${failure instanceof Error ? failure.message : 'unknown'}`);
    return await refuseSubscriptionStart(failure, raw);
  }
}

/** Registers every handler before the first await: an update without one would be rejected. */
function openFlow(input: ParsedSubscriptionInput, carried: Carried | Unopened | undefined): Billing {
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
  setHandler(statusQuery, () => subscriptionStatus(flow), { description: 'Status, wait and bills as JSON' });
  setHandler(explainQuery, () => explainSubscription(flow), { description: 'Where it stands and what comes next' });
  setDefaultSignalHandler((name) => {
    flow.ignored[name.slice(0, 50)] = (flow.ignored[name.slice(0, 50)] ?? 0) + 1;
  });
  setHandler(subscriptionOutcomeUpdate, (request) => whateverIsCancelled(() => answerOutcome(flow, request)), {
    validator: (request) => validateOutcome(flow, request),
    description: 'Where it stands, once it has been found in order',
  });
  registerSubscriptionCommands(flow);
  refresh(flow);
  return flow;
}

function newBilling(input: ParsedSubscriptionInput, carried: Carried | undefined): Billing {
  const { amount, token, consentTransactionId } = input;
  const fresh: Carried = {
    v: CARRIED_VERSION,
    plan: planOf(input),
    amount,
    card: { token, ...(consentTransactionId !== undefined && { consentTransactionId }) },
    next: 1,
    billed: [],
    counts: { billed: 0, unpaid: 0, missed: 0, notices: 0, givenUpNotices: 0 },
    outbox: [],
    answered: [],
  };
  const { workflowId, startTime } = workflowInfo();
  // A copy, because the engine's object must not be changed.
  const kept = JSON.parse(JSON.stringify(carried ?? fresh)) as Carried;
  return {
    ...kept,
    input,
    workflowId,
    fingerprint: FLOWS.subscription.fingerprint(input),
    status: carried === undefined ? 'started' : 'active',
    waitingFor: 'provider',
    needsOperator: undefined,
    since: startTime.getTime(),
    dueAt: undefined,
    upcoming: undefined,
    endsAt: undefined,
    queue: [],
    commands: new Map(),
    isCancelled: () => false,
    opened: carried !== undefined,
    ended: undefined,
    failure: undefined,
    closedOne: false,
    inLocalCall: false,
    billing: undefined,
    pendingEnd: undefined,
    worked: 0,
    attempting: false,
    updatesTaken: 0,
    canGiveWay: false,
    ignored: {},
    leaving: false,
  };
}

function validateOutcome(flow: Billing, request: OutcomeRequest): void {
  const { type, fingerprint: theirs } = parse(outcomeRequestSchema, request);
  if (type === WORKFLOW_TYPES.subscription && theirs === flow.fingerprint) {
    refuseQuestion(flow);
    return;
  }
  throw ApplicationFailure.nonRetryable(
    `Reference "${flow.input.reference}" already belongs to a subscription that was started with other terms (card, ` +
      'amount, calendar or dunning); change that one by its commands, or use a new reference for another one',
    FAILURE_TYPES.referenceConflict,
  );
}

async function answerOutcome(flow: Billing, raw: OutcomeRequest): Promise<SubscriptionOutcome> {
  const request = parseAccepted(outcomeRequestSchema, raw);
  flow.updatesTaken += 1;
  const known = (): boolean =>
    flow.ended !== undefined ||
    flow.failure !== undefined ||
    flow.upcoming !== undefined ||
    flow.endsAt !== undefined ||
    flow.open !== undefined ||
    flow.paused !== undefined ||
    flow.closedOne;
  await awaitOutcome(request, { known, silent: () => flow.inLocalCall, leaving: () => flow.leaving });
  if (flow.failure !== undefined) throw flow.failure;
  return presentSubscription(flow);
}
