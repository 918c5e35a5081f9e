import {
  allHandlersFinished,
  ApplicationFailure,
  CancellationScope,
  CancelledFailure,
  condition,
  metricMeter,
  upsertMemo,
  workflowInfo,
  type WorkflowInfo,
} from '@temporalio/workflow';
import type { z } from 'zod';
import type { FinalOutcome } from '../../src/contract/messages.js';
import { CARRIED_VERSION, type CarriedFlow } from '../../src/contract/carried.js';
import type { PaymentFlow } from '../../src/contract/flows.js';
import { WORKER_COUNTERS } from '../../src/contract/metrics.js';
import { isSealed } from '../../src/contract/payload-marks.js';
import { MEMO_KEYS, type WorkflowType } from '../../src/contract/names.js';
import { refuseUpdates, registerHandlers } from './handlers.js';
import { restore, resumable } from './continue.js';
import { allAreIn } from './arrivals.js';
import { isAnswered } from './inbox.js';
import { compareUnread, compareWithRefusal } from './unread.js';
import { failLaterRun, openRun, type Start, watchCancel } from '../kit/run.js';
import { inResetRun, isAttemptToBill } from '../kit/start-guard.js';
import { saysThatNothingWasSent } from '../../src/domain/nothing-sent.js';
import { handOverAsTold } from '../kit/hand-over.js';
import { publish } from '../kit/visibility.js';
import { refuseSecondRun, siblingThatSent, takeBack } from './earlier-runs.js';
import { type FlowTraits, newState } from './new-state.js';
import type { Command, FlowState } from './state.js';
import { announce } from './announce.js';
import { enter } from './explain.js';

/** A row of the table of flows, and what only the workflow knows. */
interface FlowType<Schema extends z.ZodType> {
  flow: PaymentFlow<WorkflowType, Schema>;
  traitsOf?: (input: z.output<Schema>) => FlowTraits;
}

interface FlowStart<Schema extends z.ZodType, Notes extends object> extends FlowType<Schema> {
  /** The notes of its story before anything is done. */
  begin: (flow: FlowState, input: z.output<Schema>) => Notes;
  /** It sends nothing, so a second run can't move money again. */
  readOnly?: true;
}

/**
 * Parses the input, checks how it was started, registers the handlers and runs the story as a frame of that type; its
 * notes tell the run that continues it what is done. Nothing in the story can be cancelled (money rule 8).
 * Fails with `InvalidInput` or, if an earlier run has used the reference, `ReferenceConflict` before the story begins.
 */
export async function runFlow<Schema extends z.ZodType, Final extends FinalOutcome, Notes extends object>(
  start: Start,
  type: FlowStart<Schema, Notes>,
  story: (flow: FlowState, input: z.output<Schema>, notes: Notes) => Promise<Final>,
): Promise<Final> {
  let flow: FlowState;
  let input: z.output<Schema>;
  try {
    ({ input, flow } = openFlow(type, start));
  } catch (failure) {
    return await refuseStart(failure);
  }
  return CancellationScope.nonCancellable(async () => {
    let ended: Final;
    try {
      ended = await resumable(
        flow,
        flow.type,
        () => type.begin(flow, input),
        async (notes) => {
          if (!type.readOnly) await refuseSecondRun(flow);
          return await story(flow, input, notes);
        },
      );
    } catch (error) {
      return await fail(flow, error);
    }
    return await end(flow, ended);
  });
}

/** For a flow that ends only because no command came: it has no money outcome to show. */
export async function runIdleFlow<Schema extends z.ZodType, Result>(
  start: Start,
  type: FlowType<Schema>,
  story: (flow: FlowState, input: z.output<Schema>) => Promise<Result>,
): Promise<Result> {
  let flow: FlowState;
  let input: z.output<Schema>;
  try {
    ({ input, flow } = openFlow(type, start));
  } catch (failure) {
    return await refuseStart(failure);
  }
  return await CancellationScope.nonCancellable(async () => {
    const result = await story(flow, input);
    await condition(() => isAnswered(flow));
    return result;
  });
}

/** An update sent along with the start must fail with the reason, not with "workflow completed". */
async function refuseStart(failure: unknown): Promise<never> {
  failLaterRun(failure);
  refuseUpdates(failure);
  await CancellationScope.nonCancellable(() => condition(allHandlersFinished));
  throw failure;
}

function isCarriedFlow(carried: { v?: unknown }): carried is CarriedFlow {
  return carried.v === CARRIED_VERSION;
}

function openFlow<Schema extends z.ZodType>(
  { flow: row, traitsOf }: FlowType<Schema>,
  start: Start,
): { flow: FlowState; input: z.output<Schema> } {
  const { input, before } = openRun(row, start, isCarriedFlow);
  const { reference, amount, currency, businessUnit } = row.subject(input);
  const info = workflowInfo();
  const startedByClient = info.memo?.[MEMO_KEYS.startedBy] !== undefined;
  const flow = newState({
    type: row.type,
    reference,
    amount,
    currency,
    businessUnit,
    kind: row.kind(input),
    fingerprint: row.fingerprint(input),
    ...traitsOf?.(input),
    workflowId: info.workflowId,
    startedAt: anchorOf(info),
    startedByClient,
    startedWith: start[0],
    notify: notifyOf(input),
  });
  if (before === undefined) flow.startedInClear = !isSealed(start[0]);
  else restore(flow, before);
  registerHandlers(flow);
  void handOverAsTold(flow);
  enter(flow, {});
  if (!startedByClient && before === undefined) {
    // A raw start lacks the memo that our client sets: later callers compare its fingerprint.
    upsertMemo({ [MEMO_KEYS.fingerprint]: flow.fingerprint });
    publish(flow);
  }
  // Before the first POST a cancel stops the flow (see `stopIfCancelled`); later it is only recorded and shown.
  watchCancel(flow, flow.cancelRequested, () => {
    flow.cancelRequested = true;
    enter(flow, {});
  });
  return { flow, input };
}

/**
 * The oldest that the first keys of a flow can be (money rule 4): its start, which survives crash and reset. For an
 * attempt to bill, the time that its subscription recorded: where time is skipped, as in a demo, the two differ.
 */
function anchorOf({ memo, startTime }: WorkflowInfo): number {
  const decidedAt = memo?.[MEMO_KEYS.decidedAt];
  return typeof decidedAt === 'number' && isAttemptToBill() ? decidedAt : startTime.getTime();
}

async function end<Final extends FinalOutcome>(flow: FlowState, outcome: Final): Promise<Final> {
  flow.outcome = outcome;
  flow.settleable = false;
  compareUnread(flow, outcome);
  const needsOperator = flow.lasting ?? null;
  enter(flow, { status: outcome.status, waitingFor: 'nothing', needsOperator, dueAt: null });
  const subCategory = outcome.status === 'declined' ? (outcome.subCategory ?? outcome.category) : undefined;
  publish(flow, subCategory === undefined ? {} : { subCategory });
  countEnd(flow.type, outcome);
  answerOpenCommands(flow);
  flow.inLocalTry = false;
  flow.inbox.splice(0);
  await untilTold(flow, outcome);
  await unlessAnotherRunSent(flow, outcome);
  return outcome;
}

/**
 * The flow takes events until its handlers have ended and its end is handed over: they are compared like later ones.
 * @param outcome undefined: it was refused
 */
async function untilTold(flow: FlowState, outcome?: FinalOutcome): Promise<void> {
  for (;;) {
    await condition(() => (isAnswered(flow) || flow.inbox.length > 0) && allAreIn(flow));
    if (flow.inbox.length === 0) return;
    const { lasting } = flow;
    if (outcome === undefined) compareWithRefusal(flow);
    else compareUnread(flow, outcome);
    flow.inbox.splice(0);
    if (flow.lasting === lasting || flow.lasting === undefined) continue;
    enter(flow, { needsOperator: flow.lasting });
    publish(flow);
  }
}

/**
 * For a run that a reset made, before it ends.
 * @param outcome undefined: it was refused
 * @throws ApplicationFailure `ReferenceConflict` where a run of another reset may have sent money, see {@link siblingThatSent}
 */
async function unlessAnotherRunSent(flow: FlowState, outcome?: FinalOutcome): Promise<void> {
  // No history that a reset copies from an original run comes to this point: there that run has ended.
  if (!inResetRun() || (outcome !== undefined && !saysThatNothingWasSent(outcome))) return;
  for (;;) {
    const { asked, sibling } = await siblingThatSent();
    const conflict = sibling === undefined ? undefined : takeBack(flow, sibling);
    // Events may have come while that was looked up.
    await untilTold(flow, conflict === undefined ? outcome : undefined);
    // A copied answer is that of the run before. If that has found none, one may have been made since.
    if (conflict !== undefined) throw conflict;
    if (asked === workflowInfo().runId) return;
  }
}

/** An address of the flow's own. */
function notifyOf(input: unknown): { url: string } | undefined {
  return (input as { notify?: { url: string } }).notify;
}

/** Counts final results by evidence: many by poll mean that webhooks get lost. */
function countEnd(type: string, { evidence, status }: FinalOutcome): void {
  metricMeter.createCounter(WORKER_COUNTERS.settledBy).add(1, { known_by: evidence.knownBy, status, type });
}

async function fail(flow: FlowState, error: unknown): Promise<never> {
  const isCancelled = error instanceof CancelledFailure;
  if (!isCancelled && !(error instanceof ApplicationFailure)) throw error;
  enter(flow, { status: isCancelled ? 'cancelled' : 'refused', waitingFor: 'nothing', dueAt: null });
  compareWithRefusal(flow);
  enter(flow, { needsOperator: flow.lasting ?? null });
  flow.failure = error;
  announce(flow);
  publish(flow);
  answerOpenCommands(flow);
  flow.inLocalTry = false;
  await untilTold(flow);
  await unlessAnotherRunSent(flow);
  throw error;
}

function answerOpenCommands(flow: FlowState): void {
  const { outcome } = flow;
  // These were never begun: the flow's end is not their result.
  for (const command of flow.queue.splice(0)) {
    // One capture or void ended the flow, so it answers one command only: the first, in the engine's order.
    const isTaken = [...flow.commands.values()].some((other) => other.name === command.name && isOf(other, outcome));
    command.answer = (isTaken ? undefined : doneBeforeReset(flow, command, outcome)) ?? {
      refusal: `the flow ended before this was begun: ${outcome?.status ?? flow.status}`,
    };
  }
  for (const command of flow.commands.values()) {
    command.answer ??= outcome === undefined ? { refusal: 'the flow ended' } : { outcome };
  }
}

function isOf({ answer }: Command, outcome: FinalOutcome | undefined): boolean {
  return (
    answer !== undefined &&
    'outcome' in answer &&
    answer.outcome.transactionId !== undefined &&
    answer.outcome.transactionId === outcome?.transactionId
  );
}

/**
 * After a reset the engine redelivers the earlier run's commands, perhaps after the events that they caused: then the
 * hold was ended by the very command that is delivered now.
 */
function doneBeforeReset(
  flow: FlowState,
  { name, request }: Command,
  outcome: FinalOutcome | undefined,
): Command['answer'] {
  if (!inResetRun() || outcome === undefined) return undefined;
  const { reference, currency, paymentId, transactionId, evidence } = outcome;
  const common = {
    reference,
    currency,
    ...(paymentId !== undefined && { paymentId }),
    ...(transactionId !== undefined && { transactionId }),
    status: 'succeeded' as const,
    evidence,
  };
  if (name === 'capture' && outcome.status === 'captured') {
    const { amount = Math.min(flow.amount, outcome.amount) } = request;
    return amount === outcome.capturedAmount ? { outcome: { ...common, amount } } : undefined;
  }
  return name === 'void' && outcome.status === 'voided'
    ? { outcome: { ...common, amount: outcome.amount } }
    : undefined;
}
