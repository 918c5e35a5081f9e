import type { WorkflowExecutionDescription } from '@temporalio/client';
import { QUERY_NAMES } from '../contract/names.js';
import type { FlowStatus } from '../contract/messages.js';
import type { SubscriptionView } from '../contract/subscription-outcome.js';
import { askFlow } from './ask-flow.js';
import type { Engine } from './engine.js';
import { flowRow, withStatus, type FlowRow } from './flow-row.js';
import { readHistory, type Highlight } from './history.js';
import { pendingCallsOf, type PendingCall } from './pending-calls.js';

/** All known data of one flow. */
export interface FlowDetails extends FlowRow {
  runId: string;
  startedAt: string;
  endedAt?: string;
  transactionId?: string;
  /** Current operation at the service, such as a charge or a void. */
  operation?: string;
  operatorReason?: string;
  cancelRequested?: boolean;
  /** Number of messages without effect, by reason. */
  ignored?: Record<string, number>;
  /** Bills and card of a subscription. */
  subscription?: SubscriptionView;
  /** Result of an ended flow with its evidence, or the current answer of an open flow. */
  outcome?: unknown;
  /** Number of requests for the outcome. */
  asked: number;
  pendingCalls: PendingCall[];
  history: Highlight[];
  /** Whether a worker answered; if not, all data are from visibility and history. */
  answeredByFlow: boolean;
  /** Why no worker answered. */
  silence?: string;
  /** Link to the flow in Temporal UI, if its address is known. */
  uiUrl?: string;
}

/** Queries the flow and reads Temporal's data of it, which needs no worker. */
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
