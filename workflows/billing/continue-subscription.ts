import { makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
import { MEMO_KEYS, WORKFLOW_TYPES } from '../../src/contract/names.js';
import type { Billing, Carried, Unopened } from './state.js';

/** Ends this run and continues as new. Only while no handler is running and everything that waits is carried. */
export async function continueSubscription(flow: Billing, raw: unknown, carried: Carried | Unopened): Promise<never> {
  const next = makeContinueAsNewFunc<(raw: unknown, carried: Carried | Unopened) => Promise<unknown>>({
    workflowType: WORKFLOW_TYPES.subscription,
    // By default the next run gets the memo that this run started with, without later changes.
    memo: { ...workflowInfo().memo, [MEMO_KEYS.fingerprint]: flow.fingerprint },
    // Newer code takes over at the end of a period (see `HOLDFAST_BUILD_ID`).
    initialVersioningBehavior: 'AUTO_UPGRADE' as const,
  });
  return await next(raw, carried);
}
