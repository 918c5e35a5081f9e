import type { ReconcileCounts, ReconcileReport } from '../../src/contract/reconcile.js';
import { answerQueries, countUnknownSignals } from '../kit/run.js';

/** How far a reconciliation has come: what a run leaves to the next one. */
export interface ReconcileState {
  v: 1;
  /** Epoch ms. */
  begun: number;
  since: number;
  /** See `sinceTheLast`. */
  statementsSince?: number;
  statementsAgain?: string[];
  until: number;
  /** Of `BY_LISTS`, so many are done. */
  lists: number;
  /** Epoch ms: flows that ended before are done. */
  reached: number;
  counts: ReconcileCounts;
  /** See `SweptCounts`. */
  counted?: string[];
  /** Epoch ms, see `ReconcileReport.askAgainFrom`. */
  askAgainFrom?: number;
}

/** Must run before the first await. @returns set `isOver` once all is done */
export function registerReconcileHandlers(state: ReconcileState): { isOver: boolean } {
  const shown = { isOver: false };
  answerQueries(
    () => ({
      status: shown.isOver ? 'reconciled' : 'reconciling',
      ...asReport(state),
      reached: new Date(state.reached).toISOString(),
    }),
    () => explainReconcile(state, shown.isOver),
  );
  countUnknownSignals({ ignored: {} });
  return shown;
}

export function asReport({ since, until, counts, askAgainFrom }: ReconcileState): Omit<ReconcileReport, 'status'> {
  return {
    since: new Date(since).toISOString(),
    until: new Date(until).toISOString(),
    ...counts,
    ...(askAgainFrom !== undefined && { askAgainFrom: new Date(askAgainFrom).toISOString() }),
  };
}

/** One or two sentences for a person. */
export function explainReconcile({ since, until, reached, counts }: ReconcileState, isOver: boolean): string {
  const { flows, asked, doubts, unanswered, found, fresh } = counts;
  const kinds = Object.entries(found).map(([kind, count]) => `${count} ${kind}`);
  const time = (at: number): string => new Date(at).toISOString();
  const where = isOver ? 'is done' : `has come to those that ended by ${time(reached)}`;
  return (
    `The reconciliation of flows that ended from ${time(since)} to ${time(until)} ${where}: ${flows} flows, ` +
    `${asked} asked about at the service (${doubts} with a doubt, ${unanswered} without an answer), ` +
    `${kinds.length === 0 ? 'no difference' : `${kinds.join(', ')}, ${fresh} of them new`}. It moves no money.`
  );
}
