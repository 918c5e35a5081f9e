import { isUndecodable } from '../../contract/payload-marks.js';
import { ASK_AGAIN_MS, type ReconcileReport } from '../../contract/reconcile.js';

/** ms. A day, and what a reconciliation before may have left out. */
const LOOK_BACK_MS = 25 * 3_600_000;

/**
 * Epoch ms from which a reconciliation until `end` looks at the flows that have ended: a day back, from where the
 * schedule's run before has ended, so that a missed day is made up for, or from the first flow that it had no answer
 * about.
 * @param last what that run has returned, if there was one
 */
export function sinceTheLast(last: unknown, end: number): number {
  const dayBack = end - LOOK_BACK_MS;
  if (typeof last !== 'object' || last === null || isUndecodable(last)) return dayBack;
  const { until, askAgainFrom } = last as Partial<ReconcileReport>;
  const reached = timeOf(until) ?? end;
  const unanswered = Math.max(timeOf(askAgainFrom) ?? end, end - ASK_AGAIN_MS);
  return Math.min(dayBack, reached, unanswered);
}

function timeOf(iso: string | undefined): number | undefined {
  const time = Date.parse(String(iso));
  return Number.isNaN(time) ? undefined : time;
}
