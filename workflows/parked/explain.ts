import type { ParkedEventResult } from '../../src/contract/parked-event.js';
import type { Parked } from './state.js';

/** One or two sentences for a person: why the event waits, until when, and what is safe to do. */
export function explainParked({ event, reason, workflowId, attempts, dueAt, result }: Parked): string {
  const what = `Event ${event.eventType} of payment ${event.paymentId}, made ${event.created}`;
  const flow = workflowId === undefined ? 'its flow' : `workflow ${workflowId}`;
  if (result !== undefined) return `${what}: ${ended(result, flow)}`;
  const next = dueAt === undefined ? 'It is looked for now' : `Next look ${new Date(dueAt).toISOString()}`;
  return `${what}: ${WHY[reason](flow)}. ${next}, after ${attempts} so far; retryNow makes it sooner, at no risk.`;
}

const WHY = {
  flowNotFound: (flow: string) => `the payment is ours, but ${flow} is not known`,
  lookUpFailed: () => 'the payment service has not said whose payment it is',
  contradictsResult: (flow: string) => `it contradicts how ${flow} has ended; compare both with the payment service`,
  unknownTransaction: (flow: string) =>
    `it names a transaction that ${flow}, which has ended, does not know; look it up at the payment service`,
} as const;

function ended({ reason }: ParkedEventResult, flow: string): string {
  if (reason === 'delivered') return `${flow} has it.`;
  if (reason === 'late') return `${flow} had ended and agrees with it.`;
  if (reason === 'foreign') return 'the payment was made outside of Holdfast; nobody here waits for it.';
  return `given up: ${WHY[reason](flow)}. "holdfast events replay" tries it again.`;
}
