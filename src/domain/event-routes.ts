import type { EventPort, EndedFlow } from '../contract/engine-port.js';
import type { TransactionEvent } from '../contract/messages.js';
import { paymentActionsWorkflowId, paymentWorkflowId, resolveWorkflowId } from '../contract/names.js';
import type { EventDelivery } from '../contract/parked-event.js';
import { TOLD_OF_CREATOR } from '../contract/payment-actions.js';
import type { TransactionStatus } from '../contract/statuses.js';
import { hidesTransaction, resourceOf } from './settling.js';

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
  const adopted = transactionId === undefined || isOfPayment(event) ? [] : [resolveWorkflowId(transactionId)];
  return [...new Set([...first, ...adopted])];
}

/** In an event of the payment itself, the transaction id field holds the payment id. */
function isOfPayment(event: TransactionEvent): boolean {
  const { paymentId, transactionId } = event;
  return transactionId === paymentId || (transactionId === undefined && !hidesTransaction(event));
}

/** The event says where to look, and not what has become of it. */
function asksForALook(event: TransactionEvent): boolean {
  return isOfPayment(event) || (event.status === undefined && !event.trusted);
}

/** It carries no reference, and may be all that ever tells of the decision. Lists of the engine lag by seconds. */
function onlyAListKnows({ eventType, trusted }: TransactionEvent): boolean {
  return trusted && resourceOf(eventType) === 'risk-analysis';
}

/** What is known of an event before it is routed. */
export interface RouteHints {
  /** Workflow id of the calling flow, which already has the event. */
  except?: string;
  /** Workflow id of the flow that is asked first: only an order, no proof. */
  first?: string;
  /** That flow has been read, and has ended so. */
  ended?: EndedFlow;
  /** The payment was made so long ago that a list of the engine shows its flow. */
  isListed?: boolean;
}

/**
 * Delivers an event to the flow it belongs to. A closed flow that doesn't know the transaction leaves the event to the
 * next flow: a refund also carries the charge's reference. Rejects if the engine did not answer; a missing answer of
 * the service is a reason to park.
 */
export async function routeEvent(
  event: TransactionEvent,
  ports: RoutePorts,
  { except, first, ended, isListed = false }: RouteHints = {},
): Promise<EventDelivery> {
  const tried = new Set(except === undefined ? [] : [except]);
  let puzzled: { workflowId: string; samePayment: boolean } | undefined;
  let late: EventDelivery | undefined;
  let isOwners = false;
  // That a flow has ended so is no reason to look no further: an open flow may still need this event.
  const saysNothing = asksForALook(event);
  const offer = async (workflowId: string): Promise<EventDelivery | undefined> => {
    tried.add(workflowId);
    const answer = await offerTo(ports, workflowId, event, workflowId === first ? ended : undefined);
    if (answer === 'notFound') return undefined;
    if (!('samePayment' in answer)) {
      if (!saysNothing || answer.result !== 'late') return withoutProof(answer);
      // The flow that created the payment has been asked, so that the service need not be.
      isOwners ||= event.trusted && answer.ofPayment === true && !isActions(workflowId, event);
      late ??= withoutProof(answer);
      return undefined;
    }
    puzzled = puzzled?.samePayment === true ? puzzled : answer;
    return undefined;
  };

  for (const workflowId of [...(first === undefined ? [] : [first]), ...routesOf(event)]) {
    if (tried.has(workflowId)) continue;
    const taken = await offer(workflowId);
    if (taken !== undefined) return taken;
  }
  // Of what nobody has signed the service must know: anybody can name a transaction of a payment.
  if (late === undefined && puzzled?.samePayment === true && !saysNothing) return unknownTo(puzzled.workflowId);
  if (late !== undefined && isOwners) return late;

  let owner: PaymentOwner;
  try {
    owner = await ports.ownerOfPayment(event);
  } catch {
    // That an ended flow agrees is no proof for a signed event: the flow may be of another payment.
    return late !== undefined && !event.trusted ? late : { result: 'unclaimed', reason: 'lookUpFailed' };
  }
  if (owner === 'foreign' && late !== undefined && !event.trusted) return late;
  // A service that echoes nothing reports our payments as foreign too, so ask the flows themselves.
  const ownerId = owner === 'foreign' ? await ports.flowOfPayment(event.paymentId) : owner.workflowId;
  if (ownerId === undefined && late === undefined && !isListed && onlyAListKnows(event))
    return { result: 'unclaimed', reason: 'lookUpFailed' };
  if (ownerId === undefined) return late ?? { result: 'foreign' };
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

function isActions(workflowId: string, { paymentId }: TransactionEvent): boolean {
  return workflowId === paymentActionsWorkflowId(paymentId);
}

/** `ofPayment`: the flow that ended names the payment of the event. */
type Offered = EventDelivery & { ofPayment?: boolean };
type Answer = Offered | 'notFound' | { workflowId: string; samePayment: boolean };

function withoutProof({ ofPayment: _proof, ...delivery }: Offered): EventDelivery {
  return delivery;
}

async function offerTo(
  ports: EventPort,
  workflowId: string,
  event: TransactionEvent,
  known: EndedFlow | undefined,
): Promise<Answer> {
  if (known !== undefined) return compared(event, workflowId, known);
  // At most twice: `paymentActions` may be opened again between the two calls.
  for (let turn = 0; turn < 2; turn += 1) {
    const delivery = await ports.deliver(workflowId, event);
    if (delivery === 'delivered') return { result: 'delivered', workflowId };
    if (delivery === 'notFound') return 'notFound';
    const ended = await ports.endedFlow(workflowId);
    if (ended !== undefined) return compared(event, workflowId, ended);
  }
  throw new Error(`workflow ${workflowId} ends and opens again faster than an event can be delivered`);
}

function compared(event: TransactionEvent, workflowId: string, ended: EndedFlow): Answer {
  const verdict = classifyLateEvent(event, ended);
  if (verdict === 'agrees') return { result: 'late', workflowId, ofPayment: ended.paymentId === event.paymentId };
  if (verdict === 'contradicts') return { result: 'unclaimed', reason: 'contradictsResult', workflowId };
  return { workflowId, samePayment: ended.paymentId === undefined || ended.paymentId === event.paymentId };
}

/** Only our workflow ids: merchants can write any text to this field. */
const OWNER = /^(?:payment|risk)-[A-Za-z0-9_.-]{1,70}$/;

/** The owner by a payment's `additional_details.holdfast_workflow_id`. */
export function ownerFrom(workflowId: string | undefined): PaymentOwner {
  return workflowId !== undefined && OWNER.test(workflowId) ? { workflowId } : 'foreign';
}

/** `unknown`: the flow's result doesn't contain this transaction. */
type LateVerdict = 'agrees' | 'contradicts' | 'unknown';

/** Of each transaction in a result its status, `any` if the result doesn't depend on it, and the sum where it has one. */
type Named = Map<string, { status: TransactionStatus | 'any'; amount?: unknown; currency?: unknown }>;

/** Results are at most this deep: a list of commands, each with its outcome. */
const MAX_DEPTH = 5;

/** Of `storeCard` the first two name the consent, and the others what has become of its money. */
const SUCCESSES: ReadonlySet<unknown> = new Set([
  'succeeded',
  'captured',
  'voided',
  'stored',
  'consentedNotStored',
  'refunded',
  'capturedElsewhere',
]);
/** `notRefunded` names a refund that was declined, or whose decline nobody has confirmed. */
const FAILURES: ReadonlySet<unknown> = new Set(['declined', 'notExecuted', 'notRefunded']);

/**
 * Compares an event that came after its flow had ended with the flow's result. An older event with less information
 * agrees with any result. An event of a transaction that the flow doesn't know must not be ignored.
 */
export function classifyLateEvent(event: TransactionEvent, flow: EndedFlow): LateVerdict {
  if (flow.paymentId !== undefined && flow.paymentId !== event.paymentId) return 'unknown';
  const { transactionId, status } = event;
  // The flow has read.
  if (isOfPayment(event)) return 'agrees';
  if (transactionId === undefined) return 'unknown';
  if (flow.result === undefined) return byStatusAlone(event, flow.status);

  const named: Named = new Map();
  collect(flow.result, named, 0);
  const known = named.get(transactionId);
  if (known === undefined) return 'unknown';
  // Nobody reads any more what it means.
  if (event.unknownStatus === true && event.trusted) return 'contradicts';
  if (known.status === 'any' || status === undefined || status === 'Pending') return 'agrees';
  return known.status === status && !isOtherSum(event, known) ? 'agrees' : 'contradicts';
}

/** Operations that move the sum that a result has beside their transaction; a hold's may be that of several captures. */
const WITH_SUM: ReadonlySet<string | undefined> = new Set(['charge', 'credit', 'refund']);

/** A reply without a sum is believed, and only the event may tell that another one has moved. */
function isOtherSum(event: TransactionEvent, known: { amount?: unknown; currency?: unknown }): boolean {
  const { trusted, status, eventType, amount, currency } = event;
  if (!trusted || status !== 'Succeed' || !WITH_SUM.has(resourceOf(eventType))) return false;
  const differs = (told: unknown, ours: unknown): boolean => told !== undefined && ours !== undefined && told !== ours;
  return differs(amount, known.amount) || differs(currency, known.currency);
}

/** Status that an event of this kind must have, by the flow's final status. */
const EXPECTED: Readonly<Record<string, Readonly<Record<string, TransactionStatus>>>> = {
  charge: { succeeded: 'Succeed', declined: 'Failed', voided: 'Failed' },
  credit: { succeeded: 'Succeed', declined: 'Failed', voided: 'Failed' },
  authorization: { captured: 'Succeed', voided: 'Succeed', expired: 'Succeed', declined: 'Failed' },
  capture: { captured: 'Succeed' },
  void: { voided: 'Succeed' },
};

/** The result can't be read, or the flow has none: only the search attribute is left. */
function byStatusAlone(event: TransactionEvent, ended: string | undefined): LateVerdict {
  if (event.unknownStatus === true && event.trusted) return 'unknown';
  const expected = EXPECTED[resourceOf(event.eventType) ?? '']?.[ended ?? ''];
  // That one transaction has succeeded does not say that this one has: it may be a second one.
  if (expected === undefined || (expected === 'Succeed' && event.status === 'Succeed')) return 'unknown';
  return event.status === undefined || event.status === 'Pending' || event.status === expected
    ? 'agrees'
    : 'contradicts';
}

function collect(value: unknown, named: Named, depth: number): void {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return;
  const result = value as Readonly<Record<string, unknown>>;
  const { transactionId, authorizationId, analysisId, status, by, amount, currency, evidence } = result;
  // What a person has decided may be about just that sum.
  const isDecided = (evidence as { knownBy?: unknown } | undefined)?.knownBy === 'operator';
  if (typeof transactionId === 'string')
    named.set(transactionId, { status: statusOf(status, by), ...(!isDecided && { amount, currency }) });
  if (typeof authorizationId === 'string') named.set(authorizationId, { status: 'Succeed' });
  if (typeof analysisId === 'string') named.set(analysisId, { status: 'any' });
  for (const [name, part] of Object.entries(value)) if (name !== TOLD_OF_CREATOR) collect(part, named, depth + 1);
}

function statusOf(status: unknown, by: unknown): TransactionStatus | 'any' {
  if (SUCCESSES.has(status) || by === 'void') return 'Succeed';
  return FAILURES.has(status) ? 'Failed' : 'any';
}
