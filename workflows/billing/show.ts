import { setCurrentDetails } from '@temporalio/workflow';
import type { PaymentStatus, WaitingFor } from '../../src/contract/statuses.js';
import type { DunningState } from '../../src/contract/billing-activities.js';
import { publish } from '../flow/visibility.js';
import { explainSubscription } from './explain-subscription.js';
import type { Billing } from './state.js';

export interface Shown {
  status: PaymentStatus;
  waitingFor: WaitingFor;
  /** Epoch ms; null when nothing is awaited. */
  dueAt?: number | null;
  needsOperator?: string | undefined;
}

/** Sets what a person and the search attributes see of the subscription. */
export function show(flow: Billing, { status, waitingFor, dueAt, needsOperator }: Shown): void {
  if (status !== flow.status) {
    flow.status = status;
    flow.since = Date.now();
  }
  flow.waitingFor = waitingFor;
  flow.dueAt = dueAt ?? undefined;
  flow.needsOperator = needsOperator;
  publish(visible(flow), flow.dueAt === undefined ? {} : { dueAt: flow.dueAt });
  refresh(flow);
}

/** What only a person can decide about the open bill. */
export function doubtOf({ open }: Billing): string | undefined {
  if (open?.step.do === 'retry') return faultyFor(open.state);
  if (open === undefined || !(open.step.do === 'block' || open.step.do === 'wait')) return undefined;
  if (open.step.do === 'wait' && open.step.for === 'card') return undefined;
  return open.doubt ?? 'the bill can not be tried as it is';
}

/** About three days of tries. */
const UNTIL_OPERATOR = 6;

/** Retries continue, but a fault that has lasted so long will not end by itself. */
function faultyFor({ faults }: DunningState): string | undefined {
  return faults > UNTIL_OPERATOR ? `${faults} tries in a row have reached no issuer; look at the provider` : undefined;
}

/** Updates the sentence in Temporal UI after something in it has changed. */
export function refresh(flow: Billing): void {
  setCurrentDetails(explainSubscription(flow));
}

function visible({ status, waitingFor, needsOperator, amount, input }: Billing) {
  const { businessUnit, currency } = input;
  return { status, waitingFor, needsOperator, amount, businessUnit, currency };
}
