import type { EndedFlow } from '../contract/engine-port.js';
import type { TransactionEvent } from '../contract/messages.js';
import type { TransactionStatus } from '../contract/statuses.js';
import { resourceOf } from './transitions.js';

/** `unknown`: the flow's end says nothing of this transaction. */
export type LateVerdict = 'agrees' | 'contradicts' | 'unknown';

/** Status of each transaction that a result names; `any` where the result does not rest on it. */
type Named = Map<string, TransactionStatus | 'any'>;

/** A result nests at most this deep: a list of commands, each with its outcome. */
const MAX_DEPTH = 5;

const SUCCESSES: ReadonlySet<unknown> = new Set(['succeeded', 'captured', 'voided']);

/**
 * Whether an event that came after its flow had ended says what the flow has said. An older event, which knows less,
 * agrees with any end; a transaction that the flow does not know is nobody's to ignore.
 */
export function judgeLateEvent(event: TransactionEvent, flow: EndedFlow): LateVerdict {
  if (flow.paymentId !== undefined && flow.paymentId !== event.paymentId) return 'unknown';
  const { transactionId, status } = event;
  // Of the payment itself, or of the older generation: it says "look", and the flow has looked.
  if (transactionId === undefined || transactionId === event.paymentId) return 'agrees';
  if (status === undefined && !event.trusted) return 'agrees';
  if (flow.result === undefined) return byStatusAlone(event, flow.status);

  const named: Named = new Map();
  collect(flow.result, named, 0);
  const known = named.get(transactionId);
  if (known === undefined) return 'unknown';
  if (known === 'any' || status === undefined || status === 'Pending') return 'agrees';
  return known === status ? 'agrees' : 'contradicts';
}

/** What an event of this kind must say for a flow that ended so. */
const EXPECTED: Readonly<Record<string, Readonly<Record<string, TransactionStatus>>>> = {
  charge: { succeeded: 'Succeed', declined: 'Failed', voided: 'Failed' },
  credit: { succeeded: 'Succeed', declined: 'Failed', voided: 'Failed' },
  authorization: { captured: 'Succeed', voided: 'Succeed', expired: 'Succeed', declined: 'Failed' },
  capture: { captured: 'Succeed' },
  void: { voided: 'Succeed' },
};

/** The result can't be read, or the flow has none: its search attribute is all there is. */
function byStatusAlone(event: TransactionEvent, ended: string | undefined): LateVerdict {
  const expected = EXPECTED[resourceOf(event.eventType) ?? '']?.[ended ?? ''];
  if (expected === undefined) return 'unknown';
  return event.status === undefined || event.status === 'Pending' || event.status === expected
    ? 'agrees'
    : 'contradicts';
}

function collect(value: unknown, named: Named, depth: number): void {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return;
  const { transactionId, authorizationId, analysisId, status, by } = value as Readonly<Record<string, unknown>>;
  if (typeof transactionId === 'string') named.set(transactionId, statusOf(status, by));
  if (typeof authorizationId === 'string') named.set(authorizationId, 'Succeed');
  if (typeof analysisId === 'string') named.set(analysisId, 'any');
  for (const part of Object.values(value)) collect(part, named, depth + 1);
}

function statusOf(status: unknown, by: unknown): TransactionStatus | 'any' {
  if (SUCCESSES.has(status) || by === 'void') return 'Succeed';
  return status === 'declined' || status === 'notExecuted' ? 'Failed' : 'any';
}
