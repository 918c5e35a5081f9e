import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { ChargeOutcome } from '../src/contract/charge.js';
import type { FlowStatus, OutcomeRequest, RetryNow, SettleManually } from '../src/contract/messages.js';
import { QUERY_NAMES, SIGNAL_NAMES, UPDATE_NAMES } from '../src/contract/names.js';

export const outcomeUpdate = defineUpdate<ChargeOutcome, [OutcomeRequest]>(UPDATE_NAMES.outcome);
export const settleManuallyUpdate = defineUpdate<ChargeOutcome, [SettleManually]>(UPDATE_NAMES.settleManually);
export const retryNowUpdate = defineUpdate<string, [RetryNow]>(UPDATE_NAMES.retryNow);
/** The argument is read as `unknown` and parsed: whatever arrives must not wedge the flow. */
export const transactionEventSignal = defineSignal<[unknown]>(SIGNAL_NAMES.transactionEvent);
export const statusQuery = defineQuery<FlowStatus>(QUERY_NAMES.status);
export const explainQuery = defineQuery<string>(QUERY_NAMES.explain);
