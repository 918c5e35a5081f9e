import { makeContinueAsNewFunc, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import { HOUR_MS } from '../src/contract/time-units.js';
import { durationMs } from '../src/contract/fields.js';
import {
  addCounts,
  MOST_COUNTED,
  noCounts,
  RECONCILE_PREFIX,
  reconcileInputSchema,
  type ReconcileReport,
  type Swept,
} from '../src/contract/reconcile.js';
import { sinceTheLast } from '../src/domain/reconcile/since.js';
import { isHistoryLong, opened, openRun } from './kit/run.js';
import { invalidInput } from './kit/start-guard.js';
import { publish } from './kit/visibility.js';
import { reconciling } from './policies.js';
import {
  asReport,
  explainReconcile,
  type ReconcileState,
  registerReconcileHandlers,
} from './reconciliation/handlers.js';

/** What ended later may not be listed yet, at the service or here. */
const LAG_MS = 2 * HOUR_MS;
/** Flows that ended in such a time are one call. */
const SLICE_MS = HOUR_MS;

const BY_LISTS: readonly Swept[] = [{ which: 'stopped' }, { which: 'needsOperator' }, { which: 'contradicted' }];

/**
 * Compares what flows say with what the payment service says, and keeps each difference as a `finding`: it asks about
 * every flow with a doubt and about a sample of the others, and matches the statements that were put down for its worker.
 * It reads only. Started by the schedule of `holdfast setup` and by `holdfast reconcile`.
 */
export async function reconcile(raw?: unknown, carried?: unknown): Promise<ReconcileReport> {
  const { workflowId } = workflowInfo();
  // Any id of that prefix: each run of the schedule has one of its own.
  const ownId = workflowId.startsWith(RECONCILE_PREFIX) ? workflowId : `${RECONCILE_PREFIX}<time>`;
  const flow = { schema: reconcileInputSchema, workflowId: () => ownId };
  const isKnown = (left: { v?: unknown }): left is ReconcileState => left.v === 1;
  const { input, before } = opened(() => openRun(flow, [raw ?? {}, carried], isKnown));
  const { sample, readsPerSecond } = input;
  const windowMs = durationMs(input.settlementWindow) ?? 0;
  const state = before ?? begin(input);
  const show = (status: 'reconciling' | 'reconciled'): void =>
    publish({ status, waitingFor: status === 'reconciling' ? 'provider' : 'nothing', needsOperator: undefined });
  const shown = registerReconcileHandlers(state);
  show('reconciling');
  const sweep = async (swept: Swept): Promise<void> => {
    const call = { swept, now: state.begun, sample, readsPerSecond, windowMs, ...countedOf(state) };
    const { counted, ...counts } = await reconciling.reconcileFlows(call);
    state.counts = addCounts(state.counts, counts);
    if (counted !== undefined) state.counted = [...(state.counted ?? []), ...counted].slice(-MOST_COUNTED);
    setCurrentDetails(explainReconcile(state, false));
  };
  for (const swept of BY_LISTS.slice(state.lists)) {
    await sweep(swept);
    state.lists += 1;
  }
  while (state.reached < state.until) {
    const to = Math.min(state.reached + SLICE_MS, state.until);
    const { askAgain } = state.counts;
    await sweep({ which: 'ended', from: state.reached, to });
    if (state.counts.askAgain !== askAgain) state.askAgainFrom ??= state.reached;
    state.reached = to;
    if (isHistoryLong()) await continueAsNew(raw, state);
  }
  const { begun: now, statementsSince: since = state.since, statementsAgain: again } = state;
  const match = { since, now, windowMs, ...(again !== undefined && { again }), ...countedOf(state) };
  const { statements, refusedStatements, ...matched } = await reconciling.matchStatements(match);
  state.counts = addCounts(state.counts, { ...noCounts(), ...matched });
  shown.isOver = true;
  show('reconciled');
  setCurrentDetails(explainReconcile(state, true));
  return {
    status: 'reconciled',
    ...asReport(state),
    ...(statements.length > 0 && { statements }),
    ...(refusedStatements.length > 0 && { refusedStatements }),
  };
}

function countedOf({ counted }: ReconcileState): Pick<ReconcileState, 'counted'> {
  return counted === undefined ? {} : { counted };
}

function begin({ since, until }: { since?: string | undefined; until?: string | undefined }): ReconcileState {
  const begun = Date.now();
  const end = until === undefined ? begun - LAG_MS : Date.parse(until);
  const given = since === undefined ? undefined : Date.parse(since);
  const last = sinceTheLast(workflowInfo().lastResult, end);
  const { flows: from, statements, ...again } = given === undefined ? last : { flows: given, statements: given };
  // Of no time it would say that there is no difference.
  if (from >= end)
    throw invalidInput([
      `since: ${since} is not before ${iso(end)}, until when lists are complete; give until as well`,
    ]);
  return {
    v: 1,
    begun,
    since: from,
    statementsSince: statements,
    ...again,
    until: end,
    lists: 0,
    reached: from,
    counts: noCounts(),
  };
}

const iso = (time: number): string => new Date(time).toISOString();

async function continueAsNew(raw: unknown, state: ReconcileState): Promise<never> {
  const { workflowType, typedSearchAttributes } = workflowInfo();
  const next = makeContinueAsNewFunc<(raw: unknown, carried: ReconcileState) => Promise<unknown>>({
    workflowType,
    typedSearchAttributes,
  });
  return await next(raw ?? {}, state);
}
