import type { WorkflowExecutionDescription, Client } from '@temporalio/client';
import type { FlowStatus } from '../contract/messages.js';
import { QUERY_NAMES } from '../contract/names.js';
import type { SubscriptionView, OpenBill } from '../contract/subscription-commands.js';
import { Decoder } from './decode.js';
import type { Engine } from './engine.js';
import { askFlow } from './find-flow.js';
import { flowRow, withStatus, type FlowRow } from './flow-row.js';
import { readHistory, type Highlight } from './history.js';
import { moneyOf, time } from './table.js';

/** All known data of one flow. */
export interface FlowDetails extends FlowRow {
  runId: string;
  startedAt: string;
  endedAt?: string;
  transactionId?: string;
  /** Current operation at the service, such as a charge or a void. */
  operation?: string;
  /** Minor units: what that operation moves. */
  operationAmount?: number;
  /** Ids of the commands that wait for those before them. */
  queued?: readonly string[];
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
  const { transactionId, operation, operationAmount, queued } = status;
  const { operatorReason, cancelRequested, ignored, subscription } = status;
  return {
    ...(transactionId !== undefined && { transactionId }),
    ...(operation !== undefined && { operation }),
    ...(operationAmount !== undefined && { operationAmount }),
    ...(queued !== undefined && { queued }),
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

/** Card and bills of a subscription as text; empty for other flows. */
export function subscriptionFields({ subscription, currency }: FlowDetails): [string, string | undefined][] {
  if (subscription === undefined) return [];
  const { card, nextBill, open, lastBilled, cancelAtPeriodEnd } = subscription;
  const { billedPeriods, unpaidPeriods, missedPeriods, skippedPeriods = 0, billedThrough } = subscription;
  const money = (amount: number): string =>
    moneyOf({ amount, ...(currency !== undefined && { currency }) }) ?? String(amount);
  const paid =
    lastBilled && `period ${lastBilled.period}, ${money(lastBilled.amount)}, payment ${lastBilled.paymentReference}`;
  return [
    ['card', card.last4Digits === undefined ? card.token : `**** ${card.last4Digits}`],
    ['open bill', open && openText(open, money)],
    ['next bill', nextBill && `period ${nextBill.period} at ${time(nextBill.dueAt)} UTC`],
    ['last billed', paid && `${paid} at ${time(lastBilled.billedAt)} UTC`],
    [
      'periods',
      `${billedPeriods} billed, ${unpaidPeriods} unpaid, ${missedPeriods} missed${skippedPeriods === 0 ? '' : `, ${skippedPeriods} skipped`}`,
    ],
    ['billed before', billedThrough === undefined ? undefined : `periods 1 to ${billedThrough}`],
    ['ends', cancelAtPeriodEnd ? 'with the present period' : undefined],
  ];
}

function openText(
  { period, amount, declines, maxAttempts, nextTryAt, giveUpAt }: OpenBill,
  money: (amount: number) => string,
): string {
  const until =
    nextTryAt === undefined ? giveUpAt && `given up at ${time(giveUpAt)} UTC` : `next try at ${time(nextTryAt)} UTC`;
  return [
    `period ${period}, ${amount === undefined ? 'no amount yet' : money(amount)}`,
    `${declines} of ${maxAttempts} declines`,
    until,
  ]
    .filter(Boolean)
    .join(', ');
}

/** A call that is running or waits for its next attempt. The history shows it only after it has ended. */
export interface PendingCall {
  name: string;
  attempt: number;
  /** ISO 8601 UTC; absent while an attempt is running. */
  nextAttemptAt?: string;
  lastFailure?: string;
}

async function pendingCallsOf(client: Client, flow: WorkflowExecutionDescription): Promise<PendingCall[]> {
  const decoder = new Decoder(client);
  const pending = flow.raw.pendingActivities ?? [];
  return await Promise.all(
    pending.map(async ({ activityType, attempt, nextAttemptScheduleTime: next, lastFailure }) => {
      const why = await decoder.failure(lastFailure);
      return {
        name: activityType?.name ?? '?',
        attempt: attempt ?? 1,
        ...(next && { nextAttemptAt: new Date(Number(next.seconds ?? 0) * 1_000).toISOString() }),
        ...(why !== undefined && { lastFailure: why }),
      };
    }),
  );
}
