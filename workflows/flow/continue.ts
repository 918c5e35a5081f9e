import { allHandlersFinished, condition, makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
import type { CarriedFlow } from '../../src/contract/carried.js';
import { MEMO_KEYS } from '../../src/contract/names.js';
import { carriedOf } from './carry.js';
import { inResetRun } from './start-guard.js';
import type { FlowState } from './state.js';

/** The engine ends a run at 51,200 events, and one of 10,000 takes seconds to replay. */
const MOST_EVENTS = 4_000;
/** The engine refuses every further update of a run after 2,000: commands of an operator among them. */
const MOST_UPDATES = 1_000;

/**
 * Long before the engine's limits. A run has to have come forward by itself before it goes on in the next: what is
 * carried may be so large that the engine suggests it at once.
 */
export function isLong(flow: FlowState): boolean {
  if (flow.updatesTaken >= MOST_UPDATES) return true;
  if (!flow.cameForward) return false;
  const { continueAsNewSuggested, historyLength } = workflowInfo();
  return continueAsNewSuggested || historyLength >= MOST_EVENTS;
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
