import type { WorkflowExecutionDescription } from '@temporalio/client';
import { QUERY_NAMES } from '../contract/names.js';
import type { FlowStatus } from '../contract/messages.js';
import type { SubscriptionView } from '../contract/subscription-outcome.js';
import { askFlow } from './ask-flow.js';
import type { Engine } from './engine.js';
import { flowRow, withStatus, type FlowRow } from './flow-row.js';
import { readHistory, type Highlight } from './history.js';
import { pendingCallsOf, type PendingCall } from './pending-calls.js';

/** All that is known of one flow. */
export interface FlowDetails extends FlowRow {
  runId: string;
  startedAt: string;
  endedAt?: string;
  transactionId?: string;
  /** What it is doing at the service: a charge, or the void of one. */
  operation?: string;
  operatorReason?: string;
  cancelRequested?: boolean;
  /** Messages that changed nothing, by reason. */
  ignored?: Record<string, number>;
  /** Where a subscription stands: its bills, its card. */
  subscription?: SubscriptionView;
  /** The result of an ended flow, with its evidence; else what the flow answers now. */
  outcome?: unknown;
  /** How often the outcome was asked for. */
  asked: number;
  pendingCalls: PendingCall[];
  history: Highlight[];
  /** Whether a worker answered; if not, everything is from visibility and history. */
  answeredByFlow: boolean;
  /** Why it did not. */
  silence?: string;
  /** Link into Temporal UI, where its address is known. */
  uiUrl?: string;
}

/** Asks the flow itself and reads what Temporal stores of it, which needs no worker. */
export async function showFlow(
  { client, uiUrl, namespace }: Engine,
  flow: WorkflowExecutionDescription,
  now: Date,
  waitMs: number,
): Promise<FlowDetails> {
  const [said, { highlights, asked, result }, pendingCalls] = await Promise.all([
    askFlow<FlowStatus>(client, flow, QUERY_NAMES.status, waitMs),
    readHistory(client, flow),
    pendingCallsOf(client, flow),
  ]);
  const stored = flowRow(flow, now);
  const status = 'answer' in said ? said.answer : undefined;
  const outcome = result ?? status?.outcome;
  return {
    ...(status === undefined ? stored : withStatus(stored, status)),
    runId: flow.runId,
    startedAt: flow.startTime.toISOString(),
    ...(flow.closeTime !== undefined && { endedAt: flow.closeTime.toISOString() }),
    ...(status !== undefined && ofStatus(status)),
    ...(outcome !== undefined && outcome !== null && { outcome }),
    asked,
    pendingCalls,
    history: highlights,
    answeredByFlow: status !== undefined,
    ...('silence' in said && { silence: said.silence }),
    ...(uiUrl !== undefined && { uiUrl: linkTo(uiUrl, namespace, flow) }),
  };
}

function ofStatus(status: FlowStatus): Partial<FlowDetails> {
  const { transactionId, operation, operatorReason, cancelRequested, ignored, subscription } = status;
  return {
    ...(transactionId !== undefined && { transactionId }),
    ...(operation !== undefined && { operation }),
    ...(operatorReason !== undefined && { operatorReason }),
    ...(cancelRequested !== undefined && { cancelRequested }),
    ...(ignored !== undefined && { ignored }),
    ...(subscription !== undefined && { subscription }),
  };
}

function linkTo(uiUrl: string, namespace: string, { workflowId, runId }: WorkflowExecutionDescription): string {
  const parts = ['namespaces', namespace, 'workflows', workflowId, runId];
  return `${uiUrl.replace(/\/+$/, '')}/${parts.map(encodeURIComponent).join('/')}/history`;
}
