import { retryNowSchema, type TransactionEvent } from '../../src/contract/messages.js';
import {
  needsPerson,
  type ParkedEventResult,
  type ParkedEventStatus,
  type ParkReason,
  type ParsedParkedEventInput,
} from '../../src/contract/parked-event.js';
import { onUpdate } from '../kit/requests.js';
import { answerQueries, countUnknownSignals } from '../kit/run.js';
import { retryNowUpdate } from '../messages.js';

/** The state of a parked event. */
export interface Parked {
  readonly event: TransactionEvent;
  /** Why it waits now. */
  reason: ParkReason;
  /** The flow that it contradicts, or the flow that took it. */
  workflowId: string | undefined;
  attempts: number;
  /** Epoch ms of the next attempt. */
  dueAt: number | undefined;
  /** An operator has asked for a try now. */
  woken: boolean;
  result: ParkedEventResult | undefined;
  readonly ignored: Record<string, number>;
  /** What the search attribute `NeedsOperator` says; undefined before it is written. */
  shownForOperator?: boolean;
}

export function newParked({ event, reason }: ParsedParkedEventInput): Parked {
  return {
    event,
    reason,
    workflowId: undefined,
    attempts: 0,
    dueAt: undefined,
    woken: false,
    result: undefined,
    ignored: {},
  };
}

/** Must run before the first await: an update whose handler is missing when its activation ends is rejected. */
export function registerParkedHandlers(parked: Parked): void {
  answerQueries(
    () => statusOf(parked),
    () => explainParked(parked),
  );
  onUpdate(retryNowUpdate, retryNowSchema, {
    description: 'Looks for the flow at once',
    validate: () => undefined,
    answer: () => {
      parked.woken = true;
      return Promise.resolve(`Woken: ${explainParked(parked)}`);
    },
  });
  countUnknownSignals(parked);
}

function statusOf({ reason, attempts, dueAt, result }: Parked): ParkedEventStatus {
  if (result !== undefined) {
    const needsOperator = result.status === 'unclaimed' && result.reason !== 'foreign';
    return { status: result.status, reason: result.reason, attempts, needsOperator };
  }
  return {
    status: 'parked',
    reason,
    attempts,
    needsOperator: needsPerson(reason),
    ...(dueAt !== undefined && { dueAt: new Date(dueAt).toISOString() }),
  };
}

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
