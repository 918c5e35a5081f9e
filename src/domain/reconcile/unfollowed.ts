import { referenceOfWorkflowId } from '../../contract/names.js';
import type { Finding, FlowFacts } from '../../contract/reconcile.js';
import { iso, sayAsked } from './sentences.js';

/** A finding about a flow that was stopped, of whose payment the service shows no money or says nothing. */
export function unfollowed(flow: FlowFacts, why: string): Finding {
  return nobodyKnows(flow, `was stopped from outside before it had a result, and nobody follows it: ${why}`);
}

/** It has ended with a doubt two weeks ago, and nothing asks the service about it again. */
export function unasked(flow: FlowFacts, why: string): Finding {
  return nobodyKnows(
    flow,
    `ended with a doubt about two weeks ago, and the service has given no answer about it: ${why}`,
  );
}

function nobodyKnows(flow: FlowFacts, what: string): Finding {
  const { workflowId, closedAt, paymentId, businessUnit, amount, currency } = flow;
  return {
    kind: 'unfollowed',
    // Under the same id a flow of commands may be opened, and stopped, again.
    subject: closedAt === undefined ? workflowId : `${workflowId}-${iso(closedAt)}`,
    explanation: `${workflowId}, over ${sayAsked(flow)}, ${what}.`,
    source: 'service',
    workflowId,
    ...(referenceOf(flow) !== undefined && { reference: referenceOf(flow) }),
    ...(paymentId !== undefined && { paymentId }),
    ...(businessUnit !== undefined && { businessUnit }),
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
  };
}

export function referenceOf(flow: FlowFacts | undefined): string | undefined {
  return flow === undefined ? undefined : referenceOfWorkflowId(flow.workflowId);
}
