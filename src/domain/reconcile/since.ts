import { isUndecodable } from '../../contract/payload-marks.js';
import { ASK_AGAIN_MS, type ReconcileReport } from '../../contract/reconcile.js';

/** ms. A day, and what a reconciliation before may have left out. */
const LOOK_BACK_MS = 25 * 3_600_000;

/**
 * Epoch ms from which a reconciliation until `end` matches statements, and looks at the flows that have ended: a day
 * back, or from where the schedule's run before has ended, so that a missed day is made up for. Of the flows also from
 * the first that it had no answer about, and the statements that it could not read whenever they came.
 * @param last what that run has returned, if there was one
 */
export function sinceTheLast(
  last: unknown,
  end: number,
): { flows: number; statements: number; statementsAgain?: string[] } {
  const dayBack = end - LOOK_BACK_MS;
  if (typeof last !== 'object' || last === null || isUndecodable(last)) return { flows: dayBack, statements: dayBack };
  const { until, askAgainFrom, refusedStatements } = last as Partial<ReconcileReport>;
  const reached = timeOf(until) ?? end;
  const statements = Math.min(dayBack, reached);
  // What is older that run has kept.
  const unanswered = Math.max(timeOf(askAgainFrom) ?? end, reached - ASK_AGAIN_MS);
  const again = (refusedStatements ?? []).flatMap(({ name, unread }) => (unread === true ? [name] : []));
  return { flows: Math.min(statements, unanswered), statements, ...(again.length > 0 && { statementsAgain: again }) };
}

function timeOf(iso: string | undefined): number | undefined {
  const time = Date.parse(String(iso));
  return Number.isNaN(time) ? undefined : time;
}
