import type { EventPort } from '../contract/engine-port.js';
import type { TransactionEvent } from '../contract/messages.js';
import { paymentActionsWorkflowId, paymentWorkflowId, resolveWorkflowId } from '../contract/names.js';
import type { EventDelivery } from '../contract/parked-event.js';
import { classifyLateEvent } from './late-events.js';
import { resourceOf } from './transitions.js';

/**
 * References of payment flows: a merchant's own, and with `.` those of a subscription's billing attempts
 * (`<subscription>.<period>.<attempt>`).
 */
const FLOW_REFERENCE = /^[A-Za-z0-9_.-]{1,70}$/;
const LATER_ACTIONS: ReadonlySet<string | undefined> = new Set(['capture', 'refund', 'void']);

/** Who created a payment according to the service: one of our flows, or nobody of ours. */
export type PaymentOwner = { workflowId: string } | 'foreign';

export interface RoutePorts extends EventPort {
  /** Reads the payment at the service. Rejects if it did not answer. */
  ownerOfPayment(event: TransactionEvent): Promise<PaymentOwner>;
}

/**
 * Workflow ids that an event may belong to, likeliest first, computed from its fields. Later operations belong first to
 * the payment's `paymentActions` flow, all others first to the flow of the reference.
 */
export function routesOf(event: TransactionEvent): string[] {
  const { eventType, paymentId, transactionId, reconciliationId } = event;
  const actions = paymentActionsWorkflowId(paymentId);
  const own = reconciliationId !== undefined && FLOW_REFERENCE.test(reconciliationId);
  const byReference = own ? [paymentWorkflowId(reconciliationId)] : [];
  const first = LATER_ACTIONS.has(resourceOf(eventType)) ? [actions, ...byReference] : [...byReference, actions];
  // In an event of the payment itself, the transaction id field holds the payment id.
  const adopted = transactionId !== undefined && transactionId !== paymentId ? [resolveWorkflowId(transactionId)] : [];
  return [...new Set([...first, ...adopted])];
}

/**
 * Delivers an event to the flow it belongs to. A closed flow that doesn't know the transaction leaves the event to the
 * next flow: a refund also carries the charge's reference. Rejects if the engine did not answer; a missing answer of
 * the service is a reason to park.
 * @param except workflow id of the calling flow, which already has the event
 */
export async function routeEvent(event: TransactionEvent, ports: RoutePorts, except?: string): Promise<EventDelivery> {
  const tried = new Set(except === undefined ? [] : [except]);
  let puzzled: { workflowId: string; samePayment: boolean } | undefined;
  let late: EventDelivery | undefined;
  // This event only triggers a read, so it agrees with any result; an open flow may still need it.
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
  // A service that echoes nothing reports our payments as foreign too, so ask the flows themselves.
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
  // At most twice: `paymentActions` may be opened again between the two calls.
  for (let turn = 0; turn < 2; turn += 1) {
    const delivery = await ports.deliver(workflowId, event);
    if (delivery === 'delivered') return { result: 'delivered', workflowId };
    if (delivery === 'notFound') return 'notFound';
    const ended = await ports.endedFlow(workflowId);
    if (ended === undefined) continue;
    const verdict = classifyLateEvent(event, ended);
    if (verdict === 'agrees') return { result: 'late', workflowId };
    if (verdict === 'contradicts') return { result: 'unclaimed', reason: 'contradictsResult', workflowId };
    return { workflowId, samePayment: ended.paymentId === undefined || ended.paymentId === event.paymentId };
  }
  throw new Error(`workflow ${workflowId} ends and opens again faster than an event can be delivered`);
}

/** Only our workflow ids: merchants can write any text to this field. */
const OWNER = /^(?:payment|risk)-[A-Za-z0-9_.-]{1,70}$/;

/** The owner by a payment's `additional_details.holdfast_workflow_id`. */
export function ownerFrom(workflowId: string | undefined): PaymentOwner {
  return workflowId !== undefined && OWNER.test(workflowId) ? { workflowId } : 'foreign';
}
