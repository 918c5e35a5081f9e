import { makeContinueAsNewFunc, workflowInfo } from '@temporalio/workflow';
import { MEMO_KEYS, WORKFLOW_TYPES } from '../../src/contract/names.js';
import type { Billing, Carried, Unopened } from './state.js';

/** Ends this run and goes on in the next. Only where no handler is at work, and what waits is carried. */
export async function goOn(flow: Billing, raw: unknown, carried: Carried | Unopened): Promise<never> {
  const next = makeContinueAsNewFunc<(raw: unknown, carried: Carried | Unopened) => Promise<unknown>>({
    workflowType: WORKFLOW_TYPES.subscription,
    // Left to itself a run hands on the memo that it was started with, and not what it has added.
    memo: { ...workflowInfo().memo, [MEMO_KEYS.fingerprint]: flow.fingerprint },
    // The border of a period is where newer code takes over (see `HOLDFAST_BUILD_ID`).
    initialVersioningBehavior: 'AUTO_UPGRADE' as const,
  });
  return await next(raw, carried);
}
