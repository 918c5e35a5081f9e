import { WORKFLOW_TYPES } from '../../contract/names.js';
import type { Finding, FlowFacts, ReconcilePort } from '../../contract/reconcile.js';
import { showMoney } from '../money.js';
import { idsOf } from './match.js';
import type { Chargeback } from './statement-rows.js';

/** One finding for each chargeback of a statement, with the flow whose payment it is of, if one of ours has made it. */
export async function disputes(chargebacks: readonly Chargeback[], port: ReconcilePort): Promise<Finding[]> {
  const findings: Finding[] = [];
  for (const chargeback of chargebacks) findings.push(findingOf(chargeback, await flowOf(chargeback, port)));
  return findings;
}

async function flowOf(chargeback: Chargeback, port: ReconcilePort): Promise<FlowFacts | undefined> {
  const { paymentId } = chargeback;
  const named = await port.flowsById(idsOf({ ...chargeback, kind: 'charge', status: 'Succeed' }));
  const all = [...named, ...(paymentId === undefined ? [] : await port.flowsOfPayments([paymentId]))];
  const ofPayment = all.filter((flow) => paymentId === undefined || flow.paymentId === paymentId);
  return ofPayment.find(({ type }) => type !== WORKFLOW_TYPES.paymentActions) ?? ofPayment[0];
}

function findingOf(chargeback: Chargeback, flow: FlowFacts | undefined): Finding {
  const { reconciliationId: reference, transactionId, amount, currency } = chargeback;
  const paymentId = chargeback.paymentId ?? flow?.paymentId;
  const money = amount === undefined || currency === undefined ? 'money' : showMoney(amount, currency);
  const whose = flow === undefined ? 'a payment that no flow is known of' : `the payment of ${flow.workflowId}`;
  return {
    kind: 'disputed',
    subject: transactionId ?? `${paymentId ?? reference}`,
    explanation: `The statement shows a chargeback of ${money} of ${whose}: answer the dispute at the provider, and refund nothing of it unseen.`,
    source: 'statement',
    ...(flow !== undefined && { workflowId: flow.workflowId }),
    ...(reference !== undefined && { reference }),
    ...(paymentId !== undefined && { paymentId }),
    ...(transactionId !== undefined && { transactionId }),
    ...(amount !== undefined && { amount }),
    ...(currency !== undefined && { currency }),
    ...(flow?.businessUnit !== undefined && { businessUnit: flow.businessUnit }),
  };
}
