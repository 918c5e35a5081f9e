import { allHandlersFinished, condition, makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
import type { CarriedFlow } from '../../src/contract/carried.js';
import { MEMO_KEYS } from '../../src/contract/names.js';
import { carriedOf } from './carry.js';
import { inResetRun } from './start-guard.js';
import type { FlowState } from './state.js';

/** The engine ends a run at 51,200 events, and one of 10,000 takes seconds to replay. */
export const MOST_EVENTS = 4_000;
/** The engine refuses every further update of a run after 2,000: commands of an operator among them. */
export const MOST_UPDATES = 1_000;

/**
 * Notes that the run has become long, long before the engine's limits. A run has to have come forward by itself before it
 * goes on in the next: what is carried may be so large that the engine suggests it at once.
 *
 * Only for code that an event of the history has set going. A task that was made for an update which is then rejected
 * leaves nothing in the history to set a replay going, so no wait may end by what such a task sees.
 */
export function noteLength(flow: FlowState): void {
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  flow.isLong ||=
    flow.updatesTaken >= MOST_UPDATES || (flow.cameForward && (continueAsNewSuggested || historyLength >= MOST_EVENTS));
}

/** An update was accepted. */
export function noteUpdate(flow: FlowState): void {
  flow.updatesTaken += 1;
  noteLength(flow);
}

/** So long that it goes on in the next run whatever has come. */
export function isTooLong(flow: FlowState): boolean {
  const tooMany = flow.updatesTaken >= 1.5 * MOST_UPDATES || workflowInfo().historyLength >= 3 * MOST_EVENTS;
  return flow.isLong && tooMany;
}

/**
 * Ends this run and goes on in the next, where the flow takes up the stages that it is in. Only for a wait in which no
 * call is under way. Whoever waits for an answer is told where it stands: an accepted update must not end by the
 * engine's own failure.
 */
export async function continueAsNew(flow: FlowState): Promise<never> {
  flow.leaving = true;
  await condition(allHandlersFinished);
  const { memo, typedSearchAttributes, workflowType } = workflowInfo();
  const goOn = makeContinueAsNewFunc<(raw: unknown, carried: CarriedFlow) => Promise<unknown>>({
    workflowType,
    // Left to itself a run hands on the memo that it was started with, and not what it has added.
    memo: {
      ...memo,
      [MEMO_KEYS.fingerprint]: flow.fingerprint,
      ...(inResetRun() && { [MEMO_KEYS.afterReset]: true }),
    },
    typedSearchAttributes,
  });
  return await goOn(flow.startedWith, carriedOf(flow));
}
