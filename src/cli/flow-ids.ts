import {
  parkedEventWorkflowId,
  paymentActionsWorkflowId,
  paymentWorkflowId,
  resolveWorkflowId,
  riskWorkflowId,
  subscriptionWorkflowId,
  WORKFLOW_TYPES,
} from '../contract/names.js';

/** Of a call about stored cards, which is named after customer and command. */
const CARD = 'card-';

/** What a workflow id begins with, by workflow type. Any other type of ours makes a payment. */
const PREFIXES: Readonly<Record<string, string>> = {
  [WORKFLOW_TYPES.resolvePending]: 'resolve-',
  [WORKFLOW_TYPES.paymentActions]: paymentActionsWorkflowId(''),
  [WORKFLOW_TYPES.analyseRisk]: riskWorkflowId(''),
  [WORKFLOW_TYPES.parkedEvent]: parkedEventWorkflowId(''),
  [WORKFLOW_TYPES.subscription]: subscriptionWorkflowId(''),
  [WORKFLOW_TYPES.listCards]: CARD,
  [WORKFLOW_TYPES.removeCard]: CARD,
};

/**
 * The reference of a flow: that of the merchant, or the payment's or transaction's id where the flow is named after
 * it. A flow whose id has no known form is known by the whole of it.
 */
export function referenceOf(workflowId: string, type: string): string {
  const prefix = PREFIXES[type] ?? 'payment-';
  return workflowId.startsWith(prefix) ? workflowId.slice(prefix.length) : workflowId;
}

/** The workflow ids that a person may mean by a name, the likeliest first. */
export function candidateIds(name: string): string[] {
  const others = [...new Set(Object.values(PREFIXES))].filter((prefix) => prefix !== 'resolve-');
  return [name, paymentWorkflowId(name), ...others.map((prefix) => `${prefix}${name}`), resolveWorkflowId(name)];
}
