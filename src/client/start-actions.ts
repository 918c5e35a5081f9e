import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { TypedSearchAttributes } from '@temporalio/common';
import type { DisputeSeen } from '../contract/disputes.js';
import { FLOWS } from '../contract/flows.js';
import { MEMO_KEYS, paymentActionsWorkflowId, SIGNAL_NAMES, WORKFLOW_TYPES } from '../contract/names.js';
import type { PaymentActionsInput } from '../contract/payment-actions.js';
import { NO_RUN } from './earlier-runs.js';
import { keyword, startAttributes, startMemo } from './start-options.js';
import { isOpen } from './is-open.js';
import { speakingRun } from './speaking-run.js';

/** The latest run under a workflow id. Call it within a deadline. */
export async function latestRunOf(
  client: Client,
  workflowId: string,
): Promise<{ runId: string; isOpen: boolean; attributes: TypedSearchAttributes } | undefined> {
  try {
    const { runId, status, typedSearchAttributes } = await client.workflow.getHandle(workflowId).describe();
    return { runId, isOpen: isOpen(status), attributes: typedSearchAttributes };
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return undefined;
    throw error;
  }
}

/**
 * How `paymentActions` is started, by whatever opens it.
 * @param latestRun if it is closed when the new run starts, the new run takes over its result without visibility
 */
export function actionsStart(input: PaymentActionsInput, latestRun = NO_RUN) {
  const { paymentId, businessUnit = 'default', currency } = input;
  const { title, taskQueue, fingerprint } = FLOWS.paymentActions;
  return {
    workflowId: paymentActionsWorkflowId(paymentId),
    taskQueue,
    args: [input] as [PaymentActionsInput],
    // Only this flow may be started again after it ended: it takes over the state of its earlier runs.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE' as const,
    memo: {
      ...startMemo(fingerprint({ ...input, businessUnit })),
      [MEMO_KEYS.takesOver]: latestRun,
    },
    typedSearchAttributes: [
      ...startAttributes({ amount: 0, currency, businessUnit }),
      { key: keyword('PaymentId'), value: paymentId },
    ],
    staticSummary: `${title} ${paymentId}`,
  };
}

/**
 * The currency of a payment, by the first of its flows that Temporal still has. It goes before that of a chargeback, which
 * an acquirer may book in another one.
 */
export async function currencyOf(client: Client, workflowIds: readonly string[]): Promise<string | undefined> {
  for (const workflowId of workflowIds) {
    try {
      const latest = await client.workflow.getHandle(workflowId).describe();
      const { typedSearchAttributes } = await speakingRun(client, latest);
      const currency = typedSearchAttributes.get(keyword('Currency'));
      if (currency !== undefined) return currency;
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) throw error;
    }
  }
  return undefined;
}

/** Has the flow of the payment's commands look into a chargeback. */
export async function tellOfDispute(
  client: Client,
  payment: PaymentActionsInput,
  seenBy: DisputeSeen['seenBy'],
  hash?: string,
): Promise<void> {
  const latest = await latestRunOf(client, paymentActionsWorkflowId(payment.paymentId));
  const seen: DisputeSeen = { paymentId: payment.paymentId, seenBy, ...(hash !== undefined && { hash }) };
  await client.workflow.signalWithStart(WORKFLOW_TYPES.paymentActions, {
    // Also of an open run: it may close before the signal arrives.
    ...actionsStart(payment, latest?.runId),
    signal: SIGNAL_NAMES.disputed,
    signalArgs: [seen],
  });
}
