import { WORKFLOW_TYPES } from '../../contract/names.js';
import { type Finding, findingWorkflowId, type FlowFacts, type ReconcilePort } from '../../contract/reconcile.js';
import { showMoney } from '../money.js';
import { idsOf } from './match.js';
import { iso } from './sentences.js';
import type { Chargeback } from './statement-rows.js';

/** One finding for each chargeback of a statement, with the flow whose payment it is of, if one of ours has made it. */
export async function disputes(chargebacks: readonly Chargeback[], port: ReconcilePort): Promise<Finding[]> {
  const findings: Finding[] = [];
  const names = new Map<string, number>();
  for (const chargeback of chargebacks) {
    // One that was turned down disputes nothing, and one that pends may be booked in the same statement.
    if (chargeback.status === 'Failed' || chargebacks.some((one) => isBooked(chargeback, one))) continue;
    const finding = findingOf(chargeback, await flowOf(chargeback, port));
    const id = findingWorkflowId(finding);
    const times = (names.get(id) ?? 0) + 1;
    names.set(id, times);
    findings.push(times === 1 ? finding : { ...finding, subject: `${finding.subject}-${times}` });
  }
  return findings;
}

/** Whether the pending one is `other`, which is booked. */
function isBooked({ status, transactionId, amount, currency }: Chargeback, other: Chargeback): boolean {
  const isPending = status === 'Pending' && other.status === 'Succeed' && transactionId !== undefined;
  const isSame = transactionId === other.transactionId && amount === other.amount && currency === other.currency;
  return isPending && isSame;
}

async function flowOf(chargeback: Chargeback, port: ReconcilePort): Promise<FlowFacts | undefined> {
  const { paymentId } = chargeback;
  const named = await port.flowsById(idsOf({ ...chargeback, kind: 'charge', status: 'Succeed' }));
  const all = [...named, ...(paymentId === undefined ? [] : await port.flowsOfPayments([paymentId]))];
  const ofPayment = all.filter((flow) => paymentId === undefined || flow.paymentId === paymentId);
  return ofPayment.find(({ type }) => type !== WORKFLOW_TYPES.paymentActions) ?? ofPayment[0];
}

function findingOf(chargeback: Chargeback, flow: FlowFacts | undefined): Finding {
  const { reconciliationId: reference, transactionId, amount, currency, created, settled } = chargeback;
  const paymentId = chargeback.paymentId ?? flow?.paymentId;
  const money = amount === undefined || currency === undefined ? 'money' : showMoney(amount, currency);
  const time = created ?? settled;
  const whose = flow === undefined ? 'a payment that no flow is known of' : `the payment of ${flow.workflowId}`;
  return {
    kind: 'disputed',
    // With its time: another one of the payment is another dispute.
    subject: transactionId ?? [paymentId ?? reference, ...(time === undefined ? [] : [iso(time)])].join('-'),
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
