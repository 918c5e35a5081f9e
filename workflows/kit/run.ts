import {
  allHandlersFinished,
  CancellationScope,
  condition,
  makeContinueAsNewFunc,
  setDefaultSignalHandler,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { z } from 'zod';
import { durationMs } from '../../src/contract/fields.js';
import type { Flow } from '../../src/contract/flows.js';
import { DEFAULT_WAIT_MS, LONGEST_WAIT_MS, type OutcomeRequest } from '../../src/contract/messages.js';
import { MEMO_KEYS, type WorkflowType } from '../../src/contract/names.js';
import { isUndecodable, whyUndecodable } from '../../src/contract/payload-marks.js';
import { type AnyStatus, explainQuery, statusQuery } from '../messages.js';
import { invalidInput, parseStart } from './start-guard.js';
import type { Outbox } from './outbox.js';
import type { Seen } from './visibility.js';

/** What a flow of any kind knows about itself in one run. */
export interface Run extends Seen {
  readonly workflowId: string;
  readonly fingerprint: string;
  /** Asks the engine. The engine doesn't pass a cancel on to the next run. */
  isCancelled: () => boolean;
  /**
   * A local activity is running. Handlers don't answer meanwhile: on replay its result arrives together with what came
   * during it, so an answer in between would change the order of the replayed commands.
   */
  inLocalTry: boolean;
  /** Updates that this run has accepted. */
  updatesTaken: number;
  /** The run ends and the next one follows: waiting callers are answered first with the present state. */
  leaving: boolean;
  /** Messages that change nothing, counted by reason. */
  readonly ignored: Record<string, number>;
  /** Set when the flow fails with a typed failure: open updates fail with it too. */
  failure: Error | undefined;
  /** What its merchant is to be told. */
  outbox: Outbox;
  handingOver: boolean;
}

/** Messages that change nothing are counted by reason, never dropped silently. */
export function ignore({ ignored }: Pick<Run, 'ignored'>, reason: string): void {
  ignored[reason] = (ignored[reason] ?? 0) + 1;
}

/** The arguments of a flow: its input and, in a run that continues another, what that run carried over. */
export type Start = readonly [raw: unknown, carried?: unknown];

/**
 * Parses the arguments of a run and checks how it was started.
 * @param isKnown true for what a run of a version that this code knows leaves to the next one
 * @throws ApplicationFailure `InvalidInput` with every fault. Starting over instead would send again what was sent.
 */
export function openRun<Schema extends z.ZodType, Carried extends { v?: unknown }>(
  flow: Pick<Flow<WorkflowType, Schema>, 'schema' | 'workflowId'>,
  [raw, carried]: Start,
  isKnown: (carried: { v?: unknown }) => carried is Carried,
): { input: z.output<Schema>; before: Carried | undefined } {
  const input = parseStart(flow, raw);
  if (!isLaterRun()) {
    if (carried !== undefined) throw invalidInput(['a second argument is for later runs only']);
    return { input, before: undefined };
  }
  if (isUndecodable(carried))
    throw invalidInput([`what the run before left can't be decoded (${whyUndecodable(carried)})`]);
  if (typeof carried !== 'object' || carried === null || !isKnown(carried))
    throw invalidInput(['nothing that it can read was left by the run before']);
  return { input, before: carried };
}

/**
 * For a start that {@link openRun} has refused. An earlier run may have moved money: what this worker can't read fails
 * the task and waits for another worker.
 */
export function failLaterRun(failure: unknown): void {
  if (isLaterRun())
    throw new Error(`This worker can't go on: ${failure instanceof Error ? failure.message : 'unknown'}`);
}

/** The same for a flow whose refused start only fails: nobody waits for its answer. */
export function opened<Opened>(open: () => Opened): Opened {
  try {
    return open();
  } catch (failure) {
    failLaterRun(failure);
    throw failure;
  }
}

/** True in a run that continues another, and in a reset of such a run. Cron and retries start over each time. */
function isLaterRun(): boolean {
  const { continuedFromExecutionRunId, cronSchedule = '', retryPolicy } = workflowInfo();
  return continuedFromExecutionRunId !== undefined && cronSchedule === '' && retryPolicy === undefined;
}

/** Lets `isCancelled` ask the engine. `before`: a previous run was cancelled. */
export function watchCancel(
  run: Pick<Run, 'isCancelled'>,
  before = false,
  onCancel: () => void = () => undefined,
): void {
  const scope = CancellationScope.current();
  run.isCancelled = () => before || scope.consideredCancelled;
  scope.cancelRequested.catch(onCancel);
}

/** Answers what anybody may ask of a flow. */
export function answerQueries(status: () => AnyStatus, explain: () => string): void {
  setHandler(statusQuery, status, { description: 'Where it stands, as JSON' });
  setHandler(explainQuery, explain, { description: 'What it waits for and what is safe to do, in a sentence' });
}

/**
 * Counts the signals that no handler knows. Must run after every other handler is registered: the first activation may
 * bring signals, and what is not handled by then counts as unknown, so an event would be lost.
 */
export function countUnknownSignals(run: Pick<Run, 'ignored'>): void {
  setDefaultSignalHandler(() => ignore(run, 'unknownSignal'));
}

/** For an `outcome` update: waits until something is known, the caller's time is up, or the run ends. */
export async function awaitOutcome(
  run: Pick<Run, 'inLocalTry' | 'leaving'>,
  { waitFor }: Pick<OutcomeRequest, 'waitFor'>,
  known: () => boolean,
): Promise<void> {
  const waitMs = Math.min(durationMs(waitFor ?? DEFAULT_WAIT_MS) ?? DEFAULT_WAIT_MS, LONGEST_WAIT_MS);
  let timeIsUp = waitMs === 0;
  const timer = new CancellationScope({ cancellable: true });
  if (!known() && !timeIsUp) {
    timer
      .run(() => sleep(waitMs, { summary: 'Until the caller is told' }))
      .then(
        () => (timeIsUp = true),
        () => undefined,
      );
  }
  // One condition from the start: handlers wake, and so answer, in the order in which they came.
  await condition(() => !run.inLocalTry && (known() || timeIsUp || run.leaving));
  timer.cancel();
}

/** The engine ends a run at 51,200 events, and a run of 10,000 takes seconds to replay. */
export const MOST_EVENTS = 4_000;
/** The engine refuses every further update of a run after 2,000, also an operator's commands. */
export const MOST_UPDATES = 1_000;

/** True if the history of this run has become long, well before the engine's limits. */
export function isHistoryLong(): boolean {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || historyLength >= MOST_EVENTS;
}

/** Handlers that wait answer with the present state: an accepted update must not end with the engine's own failure. */
export async function untilCallersAreAnswered(run: Pick<Run, 'leaving'>): Promise<void> {
  run.leaving = true;
  await condition(allHandlersFinished);
}

type NextRun = Parameters<typeof makeContinueAsNewFunc>[0];

/**
 * Ends this run and continues as new. Only while no call is under way and no handler is running.
 * @param raw the workflow's input, exactly as it came
 */
export async function startNextRun(
  { fingerprint }: Pick<Run, 'fingerprint'>,
  raw: unknown,
  carried: object,
  { memo, ...options }: NonNullable<NextRun> = {},
): Promise<never> {
  const info = workflowInfo();
  const next = makeContinueAsNewFunc<(raw: unknown, carried: object) => Promise<unknown>>({
    workflowType: info.workflowType,
    // By default the next run gets the memo that this run started with, without later changes.
    memo: { ...info.memo, [MEMO_KEYS.fingerprint]: fingerprint, ...memo },
    ...options,
  });
  return await next(raw, carried);
}
