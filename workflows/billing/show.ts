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

/** What a person and the search attributes see of the subscription from now on. */
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

/** What of the open bill only a person can decide. */
export function doubtOf({ open }: Billing): string | undefined {
  if (open?.step.do === 'retry') return faultyFor(open.state);
  if (open === undefined || !(open.step.do === 'block' || open.step.do === 'wait')) return undefined;
  if (open.step.do === 'wait' && open.step.for === 'card') return undefined;
  return open.doubt ?? 'the bill can not be tried as it is';
}

/** The tries of about three days. */
const UNTIL_OPERATOR = 6;

/** It is tried on, but what has lasted for so long will not mend itself. */
function faultyFor({ faults }: DunningState): string | undefined {
  return faults > UNTIL_OPERATOR ? `${faults} tries in a row have reached no issuer; look at the provider` : undefined;
}

/** The sentence in Temporal UI, after something in it has changed. */
export function refresh(flow: Billing): void {
  setCurrentDetails(explainSubscription(flow));
}

function visible({ status, waitingFor, needsOperator, amount, input }: Billing) {
  const { businessUnit, currency } = input;
  return {
    status,
    waitingFor,
    needsOperator,
    amount,
    businessUnit,
    currency,
    paymentId: undefined,
    provider: undefined,
  };
}
