import { ApplicationFailure, defineQuery, defineUpdate, setHandler } from '@temporalio/workflow';
import { FAILURE_TYPES } from '../../src/contract/failure-types.js';
import { faultsOf } from '../../src/contract/fields.js';
import type { RetryNow } from '../../src/contract/messages.js';
import { retryNowSchema } from '../../src/contract/messages.js';
import { QUERY_NAMES, UPDATE_NAMES } from '../../src/contract/names.js';
import type { ParkedEventStatus } from '../../src/contract/parked-event.js';
import { needsPerson } from '../../src/contract/parked-event.js';
import { explainParked } from './explain.js';
import type { Parked } from './state.js';

const statusQuery = defineQuery<ParkedEventStatus>(QUERY_NAMES.status);
const explainQuery = defineQuery<string>(QUERY_NAMES.explain);
const retryNowUpdate = defineUpdate<string, [RetryNow]>(UPDATE_NAMES.retryNow);

/** Before the first await: an update whose handler is missing when its activation ends is rejected. */
export function registerParkedHandlers(parked: Parked): void {
  setHandler(statusQuery, () => statusOf(parked), { description: 'Status and reason as JSON' });
  setHandler(explainQuery, () => explainParked(parked), { description: 'Why it waits and what is safe to do' });
  setHandler(
    retryNowUpdate,
    () => {
      parked.woken = true;
      return `Woken: ${explainParked(parked)}`;
    },
    { validator: refuse, description: 'Looks for the flow at once' },
  );
}

function refuse(request: RetryNow): void {
  const parsed = retryNowSchema.safeParse(request);
  if (parsed.success) return;
  const faults = faultsOf(parsed.error);
  throw ApplicationFailure.nonRetryable(faults.join('; '), FAILURE_TYPES.invalidInput, faults);
}

function statusOf({ reason, attempts, dueAt, result }: Parked): ParkedEventStatus {
  if (result !== undefined) {
    const needsOperator = result.status === 'unclaimed' && result.reason !== 'foreign';
    return { status: result.status, reason: result.reason, attempts, needsOperator };
  }
  return {
    status: 'parked',
    reason,
    attempts,
    needsOperator: needsPerson(reason),
    ...(dueAt !== undefined && { dueAt: new Date(dueAt).toISOString() }),
  };
}
