import type { EndedFlow } from '../contract/engine-port.js';
import type { TransactionEvent } from '../contract/messages.js';
import type { TransactionStatus } from '../contract/statuses.js';
import { resourceOf } from './transitions.js';

/** `unknown`: the flow's result doesn't contain this transaction. */
export type LateVerdict = 'agrees' | 'contradicts' | 'unknown';

/** Status of each transaction in a result; `any` if the result doesn't depend on it. */
type Named = Map<string, TransactionStatus | 'any'>;

/** Results are at most this deep: a list of commands, each with its outcome. */
const MAX_DEPTH = 5;

const SUCCESSES: ReadonlySet<unknown> = new Set(['succeeded', 'captured', 'voided']);

/**
 * Compares an event that came after its flow had ended with the flow's result. An older event with less information
 * agrees with any result. An event of a transaction that the flow doesn't know must not be ignored.
 */
export function classifyLateEvent(event: TransactionEvent, flow: EndedFlow): LateVerdict {
  if (flow.paymentId !== undefined && flow.paymentId !== event.paymentId) return 'unknown';
  const { transactionId, status } = event;
  // An event of the payment itself, or an older unsigned one, only asks for a read, and the flow has read.
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
