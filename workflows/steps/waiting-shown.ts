import type { TransactionRecord } from '../../src/contract/records.js';
import { OPERATOR_AFTER_MS } from '../../src/domain/schedules.js';
import { enter } from '../flow/explain.js';
import type { FlowState } from '../flow/state.js';
import { publish } from '../kit/visibility.js';

/** Publishes once that the flow waits, and again when the reason changes. */
export function showWaiting(flow: FlowState, record: TransactionRecord, mismatch: string | undefined): void {
  flow.settleable = true;
  const status = mismatch === undefined && record.status === 'Pending' ? 'pending' : 'unknown';
  const away = status === 'pending' && flow.redirectUrl !== undefined;
  const waitingFor = mismatch === undefined ? (away ? 'redirect' : 'settlement') : 'operator';
  if (flow.status === status && flow.waitingFor === waitingFor) return;
  const late = flow.waitingFor === 'redirect' && waitingFor === 'settlement';
  const needsOperator = mismatch ?? (late ? BUYER_GONE : undefined);
  enter(flow, { status, waitingFor, ...(needsOperator !== undefined && { needsOperator }) });
  publish(flow, { dueAt: away && flow.redirectUntil ? flow.redirectUntil : flow.stepStartedAt + OPERATOR_AFTER_MS });
}

const BUYER_GONE = 'the buyer was sent to another page and has not come back in time; it is still being read';

/**
 * Shortens `ms` to the end of the buyer's time: a buyer who doesn't come back leaves the operation pending, and an
 * operator is asked then.
 */
export function untilTheBuyersTimeIsUp({ redirectUrl, redirectUntil }: FlowState, ms: number): number {
  if (redirectUrl === undefined || redirectUntil === undefined) return ms;
  return Math.max(1, Math.min(ms, redirectUntil - Date.now()));
}
