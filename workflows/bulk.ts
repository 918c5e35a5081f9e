import { CancelledFailure, makeContinueAsNewFunc, setCurrentDetails, workflowInfo } from '@temporalio/workflow';
import { bulkInputSchema, type BulkStatus, bulkWorkflowId } from '../src/contract/bulk.js';
import { addSlice, type BulkState, explainBulk, registerBulkHandlers, statusOf } from './bulk/handlers.js';
import { decodedOrRetry } from './kit/decoded-or-retry.js';
import { isHistoryLong, opened, openRun, watchCancel } from './kit/run.js';
import { publish } from './kit/visibility.js';
import { bulking } from './policies.js';

/**
 * Gives one command to the open subscriptions of a business unit, at a rate, one after the other by their workflow ids.
 * What has become of each is in the results of its activities. A cancel ends it after those that are under way.
 */
export async function bulk(raw: unknown, carried?: unknown): Promise<BulkStatus> {
  const flow = { schema: bulkInputSchema, workflowId: bulkWorkflowId };
  const isKnown = (left: { v?: unknown }): left is BulkState => left.v === 1;
  const { input, before } = opened(() => openRun(flow, [raw, carried], isKnown));
  const none = { done: 0, refused: 0, failed: 0, leftAlone: 0 };
  const state: BulkState = before ?? { v: 1, begun: Date.now(), counts: none };
  const shown = registerBulkHandlers(input, state);
  const cancel = { isCancelled: () => false };
  watchCancel(cancel);
  const show = (status: BulkStatus['status']): void => {
    const waitingFor = status === 'started' ? 'command' : 'nothing';
    publish({ status, waitingFor, needsOperator: undefined, businessUnit: input.businessUnit });
    setCurrentDetails(explainBulk(input, state, shown.isOver));
  };
  show('started');
  for (;;) {
    const { after, begun } = state;
    const slice = decodedOrRetry(await bulking.bulkSlice({ begun, ...(after !== undefined && { after }) }));
    state.counts = addSlice(state, slice);
    if (slice.last === undefined) break;
    state.after = slice.last;
    if (cancel.isCancelled()) throw new CancelledFailure('Cancelled: what was done is in the results');
    setCurrentDetails(explainBulk(input, state, false));
    if (isHistoryLong()) await continueAsNew(raw, state);
  }
  shown.isOver = true;
  show('completed');
  return statusOf(input, state, true);
}

async function continueAsNew(raw: unknown, state: BulkState): Promise<never> {
  const { workflowType, typedSearchAttributes, memo } = workflowInfo();
  const next = makeContinueAsNewFunc<(raw: unknown, carried: BulkState) => Promise<unknown>>({
    workflowType,
    typedSearchAttributes,
    ...(memo !== undefined && { memo }),
  });
  return await next(raw, state);
}
