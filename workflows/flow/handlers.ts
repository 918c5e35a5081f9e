import { ApplicationFailure, condition, currentUpdateInfo, setHandler } from '@temporalio/workflow';
import { BEFORE_NEW_REFERENCE, FAILURE_TYPES } from '../../src/contract/names.js';
import {
  type OutcomeRequest,
  outcomeRequestSchema,
  retryNowSchema,
  type SettleManually,
  settleManuallySchema,
  type TransactionEvent,
  transactionEventSchema,
} from '../../src/contract/messages.js';
import { isSealed } from '../../src/contract/payload-marks.js';
import { resourceOf } from '../../src/domain/settling.js';
import {
  captureUpdate,
  outcomeUpdate,
  refundUpdate,
  voidUpdate,
  retryNowUpdate,
  settleManuallyUpdate,
  transactionEventSignal,
  noteEvent,
} from '../messages.js';
import { registerApprovals } from './approvals.js';
import { onceAllAreIn } from './arrivals.js';
import { readableOrRetry } from '../kit/decoded-or-retry.js';
import { isRepeat, onUpdate, parse, refuseQuestionWhenFull, refused, whateverIsCancelled } from '../kit/requests.js';
import { answerQueries, awaitOutcome, countUnknownSignals, ignore } from '../kit/run.js';
import { answerOf, registerCommands, decidedAnother, operationOf, sameDecision } from './command-handlers.js';
import { noteLength, noteUpdate } from './continue.js';
import { registerDisputes } from './disputes.js';
import { explain } from './explain.js';
import { flowStatus, presentOutcome } from './outcomes.js';
import { keepUnplaced, putIn } from './inbox.js';
import { noteBeside, noteBesidePayment, noteCaptured, noteTold } from './told.js';
import type { PaymentStatus } from '../../src/contract/statuses.js';
import type { FlowState, SettleCommand } from './state.js';
import { askedOf, forgetOldCommands, inPlace, refuseWhenEnded, refuseWhenFull } from './refuse.js';

/** Not final, but answered at once: no further news is expected soon. */
const ANSWERABLE: readonly PaymentStatus[] = ['pending', 'authorized', 'underReview'];

/**
 * Registers every handler of a money flow. Must run before the first await: an update whose handler is missing when its
 * activation ends is rejected. Handlers put messages into the inbox and wait; only the main loop acts.
 */
export function registerHandlers(flow: FlowState): void {
  answerQueries(
    () => flowStatus(flow),
    () => explain(flow),
  );
  setHandler(transactionEventSignal, (payload) => {
    readableOrRetry(payload, 'an event');
    const event = transactionEventSchema.safeParse(payload);
    const sealed = isSealed(payload);
    if (event.success && sealed) noteEvent(event.data);
    onceAllAreIn(flow, 'signal', () => {
      noteLength(flow);
      if (!event.success) ignore(flow, 'malformedEvent');
      // The webhook handler encrypts what it has verified; anybody with access to Temporal can write in clear.
      else if (!sealed) ignore(flow, 'eventInClear');
      else takeEvent(flow, event.data);
    });
  });

  onUpdate(outcomeUpdate, outcomeRequestSchema, {
    description: 'The outcome, or an honest "unknown" after waitFor',
    validate: (request) => validateOutcomeRequest(flow, request),
    answer: (request) => answerOutcome(flow, request),
  });

  setHandler(
    retryNowUpdate,
    async () => {
      noteUpdate(flow);
      const { lasting } = flow;
      const message = { kind: 'retryNow', ...(lasting !== undefined && { seen: lasting }) } as const;
      onceAllAreIn(flow, 'update', () => flow.inbox.push(message));
      const woken = `Woken: ${explain(flow)}`;
      await whateverIsCancelled(() => condition(() => !flow.inLocalTry));
      return woken;
    },
    {
      validator: (request) => {
        parse(retryNowSchema, request);
        refuseWhenEnded(flow);
      },
      description: 'Looks at once instead of waiting for the next poll or back-off',
    },
  );

  onUpdate(settleManuallyUpdate, settleManuallySchema, {
    description: 'States what an operator found out; the flow reads once more before it believes it',
    validate: (request) => validateSettle(flow, request),
    answer: (request) => settleManually(flow, request),
  });
  registerCommands(flow);
  registerApprovals(flow);
  registerDisputes(flow);
  countUnknownSignals(flow);
}

function takeEvent(flow: FlowState, event: TransactionEvent): void {
  if (flow.outcome !== undefined || flow.failure !== undefined) {
    ignore(flow, 'eventAfterEnd');
    // It is compared with the end before the flow closes.
    flow.inbox.push({ kind: 'event', event });
  } else if (isLateRisk(flow, event)) noteLateRisk(flow, event);
  else {
    keepUnplaced(flow, event);
    noteBeside(flow, event);
    noteBesidePayment(flow, event);
    // Before the event itself, which whatever is under way ignores.
    if (noteCaptured(flow, event) || noteTold(flow, event)) flow.inbox.push({ kind: 'retryNow' });
    putIn(flow, { kind: 'event', event });
  }
}

/** Of a flow whose start is refused. */
export function refuseUpdates(failure: unknown): void {
  for (const update of [outcomeUpdate, captureUpdate, voidUpdate, refundUpdate]) {
    setHandler(update as typeof outcomeUpdate, () => {
      throw failure;
    });
  }
}

function validateOutcomeRequest(flow: FlowState, { type, fingerprint }: OutcomeRequest): void {
  if (type !== flow.type || fingerprint !== flow.fingerprint) {
    throw ApplicationFailure.nonRetryable(
      `Reference "${flow.reference}" already belongs to a ${flow.type} with another input: ${BEFORE_NEW_REFERENCE}`,
      FAILURE_TYPES.referenceConflict,
    );
  }
  refuseQuestionWhenFull(askedOf(flow));
  if (!isAnswerable(flow)) refuseWhenFull(flow);
}

function isAnswerable({ outcome, failure, status }: FlowState): boolean {
  return outcome !== undefined || failure !== undefined || ANSWERABLE.includes(status);
}

async function answerOutcome(flow: FlowState, request: OutcomeRequest) {
  noteUpdate(flow);
  await inPlace(flow, () => awaitOutcome(flow, request, () => isAnswerable(flow)));
  if (flow.failure !== undefined) throw flow.failure;
  return presentOutcome(flow);
}

function whyNotSettleable({ waitingFor, callsAbout }: FlowState): string {
  if (callsAbout === 'card' && waitingFor === 'proof') return 'no money is in question, only a card';
  switch (waitingFor) {
    case 'approval':
      return 'nothing of it has been sent; `approve` or `reject` it';
    case 'capture':
    case 'captureSoonDue':
      return 'the money is held; capture or void it';
    case 'command':
      return 'nothing is under way';
    default:
      return 'the operation is still being tried with its idempotency key; wait until that has ended, or use retryNow';
  }
}

function validateSettle(flow: FlowState, request: SettleManually): void {
  const earlier = request.commandId === undefined ? undefined : flow.commands.get(request.commandId);
  if (isRepeat(earlier, 'settleManually', request)) return;
  if (sameDecision(flow, 'settleManually', request) !== undefined) return;
  if (decidedAnother(flow, 'settleManually', request) !== undefined) {
    throw refused(
      'the same words have decided an earlier operation of this flow; if they are meant for the one that waits now, give a commandId',
    );
  }
  refuseWhenEnded(flow);
  if (!flow.settleable) {
    throw refused(`nothing waits for a decision: ${whyNotSettleable(flow)}`);
  }
  if (request.amount !== undefined && flow.settlesAmount !== true)
    throw refused('amount: what is decided is worth what was asked for; leave it out', FAILURE_TYPES.invalidInput);
}

/** A repeated command id joins the first command and gets its answer. */
async function settleManually(flow: FlowState, request: SettleManually) {
  noteUpdate(flow);
  const commandId = request.commandId ?? currentUpdateInfo()?.id ?? String(flow.commands.size);
  let command = flow.commands.get(commandId) ?? sameDecision(flow, 'settleManually', request);
  if (command?.name !== 'settleManually') {
    const made: SettleCommand = { commandId, name: 'settleManually', request, decides: operationOf(flow) };
    forgetOldCommands(flow);
    flow.commands.set(commandId, made);
    onceAllAreIn(flow, 'update', () => flow.inbox.push({ kind: 'settle', command: made }));
    command = made;
  }
  return await answerOf(flow, command);
}

/** The risk decision was already made: a later event of the risk provider is recorded and moves no money. */
function isLateRisk(flow: FlowState, event: TransactionEvent): boolean {
  return flow.risk !== undefined && flow.kind !== 'risk-analysis' && resourceOf(event.eventType) === 'risk-analysis';
}

/** The event status that belongs to each risk decision. */
const SAID: Readonly<Record<string, string>> = { approve: 'Succeed', decline: 'Failed', review: 'Pending' };

function noteLateRisk(flow: FlowState, event: TransactionEvent): void {
  const { status, created, paymentId } = event;
  if (flow.risk === undefined) return;
  // An analysis goes before a hold that was made again on another payment.
  if (paymentId !== flow.paymentId && event.transactionId !== flow.risk.analysisId) {
    ignore(flow, 'otherPayment');
    return;
  }
  // What nobody has signed, or another unit, or about another analysis, says nothing that a person should read.
  const isOther = flow.risk.analysisId !== undefined && event.transactionId !== flow.risk.analysisId;
  if (!event.trusted || event.businessUnit !== flow.businessUnit || status === undefined || isOther) {
    ignore(flow, 'untrustedLateRisk');
    return;
  }
  // An old `Pending` that comes late doesn't revoke a decision.
  if (status === 'Pending' || status === SAID[flow.risk.decision]) {
    ignore(flow, 'riskDecisionAgain');
    return;
  }
  flow.risk = { ...flow.risk, late: `${status} at ${created}` };
  ignore(flow, 'lateRiskDecision');
}
