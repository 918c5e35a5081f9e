import type { EventPort } from '../contract/engine-port.js';
import type { TransactionEvent } from '../contract/messages.js';
import { paymentActionsWorkflowId, paymentWorkflowId, resolveWorkflowId } from '../contract/names.js';
import type { EventDelivery } from '../contract/parked-event.js';
import { judgeLateEvent } from './late-events.js';
import { resourceOf } from './transitions.js';

/**
 * The references a payment flow can have: a merchant's own, and with `.` those of a subscription's billing attempts
 * (`<subscription>.<period>.<attempt>`).
 */
const FLOW_REFERENCE = /^[A-Za-z0-9_.-]{1,70}$/;
const LATER_ACTIONS: ReadonlySet<string | undefined> = new Set(['capture', 'refund', 'void']);

/** What the service says of who made a payment: the flow it was made by, or nobody of ours. */
export type PaymentOwner = { workflowId: string } | 'foreign';

export interface RoutePorts extends EventPort {
  /** Asks the service. Rejects when it did not say. */
  ownerOfPayment(event: TransactionEvent): Promise<PaymentOwner>;
}

/**
 * Workflow ids that an event may belong to, likeliest first, by arithmetic on what it carries. What is done later to a
 * payment belongs to the flow of its actions first, all else to the flow of its reference.
 */
export function routesOf(event: TransactionEvent): string[] {
  const { eventType, paymentId, transactionId, reconciliationId } = event;
  const actions = paymentActionsWorkflowId(paymentId);
  const own = reconciliationId !== undefined && FLOW_REFERENCE.test(reconciliationId);
  const byReference = own ? [paymentWorkflowId(reconciliationId)] : [];
  const first = LATER_ACTIONS.has(resourceOf(eventType)) ? [actions, ...byReference] : [...byReference, actions];
  // An event of the payment itself names the payment where others name their transaction.
  const adopted = transactionId !== undefined && transactionId !== paymentId ? [resolveWorkflowId(transactionId)] : [];
  return [...new Set([...first, ...adopted])];
}

/**
 * Hands an event to the flow it belongs to. A flow that has ended and does not know the transaction leaves it to the
 * others: a refund carries the reference of the charge as well.
 * Rejects when the engine did not answer; what the service did not answer is a reason of its own.
 * @param except the flow that has the event and asks whose it is
 */
export async function routeEvent(event: TransactionEvent, ports: RoutePorts, except?: string): Promise<EventDelivery> {
  const tried = new Set(except === undefined ? [] : [except]);
  let puzzled: { workflowId: string; samePayment: boolean } | undefined;
  let late: EventDelivery | undefined;
  // It only says where to look, so that any end agrees with it: a flow that still runs may be the one to look.
  const saysNothing = !event.trusted && event.status === undefined;
  const offer = async (workflowId: string): Promise<EventDelivery | undefined> => {
    tried.add(workflowId);
    const answer = await offerTo(ports, workflowId, event);
    if (answer === 'notFound') return undefined;
    if (!('samePayment' in answer)) {
      if (!saysNothing || answer.result !== 'late') return answer;
      late ??= answer;
      return undefined;
    }
    puzzled = puzzled?.samePayment === true ? puzzled : answer;
    return undefined;
  };

  for (const workflowId of routesOf(event)) {
    if (tried.has(workflowId)) continue;
    const taken = await offer(workflowId);
    if (taken !== undefined) return taken;
  }
  if (late === undefined && puzzled?.samePayment === true) return unknownTo(puzzled.workflowId);

  let owner: PaymentOwner;
  try {
    owner = await ports.ownerOfPayment(event);
  } catch {
    return late ?? { result: 'unclaimed', reason: 'lookUpFailed' };
  }
  if (owner === 'foreign' && late !== undefined) return late;
  // A service that echoes nothing says the same of a payment of ours: the flows themselves are asked.
  const ownerId = owner === 'foreign' ? await ports.flowOfPayment(event.paymentId) : owner.workflowId;
  if (ownerId === undefined) return { result: 'foreign' };
  if (!tried.has(ownerId)) {
    const taken = await offer(ownerId);
    if (taken !== undefined) return taken;
  }
  if (late !== undefined) return late;
  if (puzzled !== undefined) return unknownTo(puzzled.workflowId);
  return { result: 'unclaimed', reason: 'flowNotFound', workflowId: ownerId };
}

function unknownTo(workflowId: string): EventDelivery {
  return { result: 'unclaimed', reason: 'unknownTransaction', workflowId };
}

type Answer = EventDelivery | 'notFound' | { workflowId: string; samePayment: boolean };

async function offerTo(ports: EventPort, workflowId: string, event: TransactionEvent): Promise<Answer> {
  // Twice at most: `paymentActions` may be opened again between the two questions.
  for (let turn = 0; turn < 2; turn += 1) {
    const delivery = await ports.deliver(workflowId, event);
    if (delivery === 'delivered') return { result: 'delivered', workflowId };
    if (delivery === 'notFound') return 'notFound';
    const ended = await ports.endedFlow(workflowId);
    if (ended === undefined) continue;
    const verdict = judgeLateEvent(event, ended);
    if (verdict === 'agrees') return { result: 'late', workflowId };
    if (verdict === 'contradicts') return { result: 'unclaimed', reason: 'contradictsResult', workflowId };
    return { workflowId, samePayment: ended.paymentId === undefined || ended.paymentId === event.paymentId };
  }
  throw new Error(`workflow ${workflowId} ends and opens again faster than an event can be delivered`);
}

/** Only flows of ours: the field is the merchant's to write, so anything may stand in it. */
const OWNER = /^(?:payment|risk)-[A-Za-z0-9_.-]{1,70}$/;

/** By `additional_details.holdfast_workflow_id` of a payment. */
export function ownerFrom(workflowId: string | undefined): PaymentOwner {
  return workflowId !== undefined && OWNER.test(workflowId) ? { workflowId } : 'foreign';
}
