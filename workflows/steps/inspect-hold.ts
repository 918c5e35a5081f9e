import type { Captured, Expired, HoldOutcome, Voided } from '../../src/contract/authorize.js';
import type { PaymentRecord, TransactionRecord } from '../../src/contract/transaction.js';
import { base, evidence } from '../flow/outcomes.js';
import { happen } from '../flow/phase.js';
import type { FlowState } from '../flow/state.js';
import { ignore, noteRequestId } from '../flow/state.js';
import { READS } from './kinds.js';
import { read } from '../policies.js';
import { decodedOrRetry } from './decoded-or-retry.js';
import type { Hold } from './hold.js';
import { askOperator, askOperatorIfRejected, credentialsWork } from './operator.js';

/**
 * What the service says of a payment that nothing of ours has ended: undefined while it is held, or can't be
 * read; else how it ended. Captures and voids can be made elsewhere, and a provider lets go by itself.
 */
export async function inspectHold(flow: FlowState, hold: Hold): Promise<HoldOutcome | undefined> {
  const look = await lookAtHold(flow, hold);
  return typeof look === 'string' ? undefined : look;
}

/** The same; `unclear` when nothing rules out that it was captured. */
export async function lookAtHold(flow: FlowState, hold: Hold): Promise<HoldOutcome | 'held' | 'unclear'> {
  const payment = await readPayment(flow);
  if (payment === undefined) return 'unclear';
  if (payment.status === 'Captured' || payment.status === 'Refunded')
    return (await capturedElsewhere(flow, hold)) ?? 'unclear';
  if (payment.status !== 'Voided') return 'held';
  if (Date.now() >= hold.terms.heldUntil) return expired(flow, hold, payment);
  happen(flow, 'voidedElsewhere');
  const voided: Voided = {
    ...base(flow),
    amount: flow.amount,
    status: 'voided',
    authorizationId: hold.authorized.transactionId ?? '',
    reason: 'elsewhere',
    evidence: { ...evidence(flow, 'poll'), proof: 'the service shows the payment as Voided, by no void of this flow' },
  };
  return voided;
}

/** The hold must be gone by now: a last look, in case it was captured elsewhere. Undefined when it can't be read. */
export async function expire(flow: FlowState, hold: Hold): Promise<HoldOutcome | undefined> {
  const payment = await readPayment(flow);
  if (payment === undefined) {
    askOperator(flow, 'the hold must have ended, but the payment can not be read');
    return undefined;
  }
  if (payment.status === 'Captured' || payment.status === 'Refunded') return await capturedElsewhere(flow, hold);
  return expired(flow, hold, payment);
}

function expired(flow: FlowState, { authorized, terms }: Hold, { status }: PaymentRecord): Expired {
  happen(flow, 'holdEnded');
  const heldUntil = new Date(terms.heldUntil).toISOString();
  return {
    ...base(flow),
    amount: flow.amount,
    status: 'expired',
    authorizationId: authorized.transactionId ?? '',
    reason: `the provider held it until ${heldUntil}`,
    evidence: {
      ...evidence(flow, 'poll'),
      proof: `held until ${heldUntil}; the service shows the payment as ${status}`,
    },
  };
}

/** Undefined while the captures can't be read, or none is shown yet. */
export async function capturedElsewhere(flow: FlowState, hold: Hold): Promise<Captured | undefined> {
  const captures = (await readCaptures(flow))?.filter(({ status }) => status === 'Succeed');
  const [first] = captures ?? [];
  if (captures === undefined || first === undefined) {
    askOperator(flow, 'the service shows the payment as captured, by no capture of this flow');
    return undefined;
  }
  happen(flow, 'capturedElsewhere');
  return {
    ...base(flow),
    amount: flow.amount,
    status: 'captured',
    transactionId: first.transactionId,
    capturedAmount: captures.reduce((sum, { amount = flow.amount }) => sum + amount, 0),
    authorizationId: hold.authorized.transactionId ?? '',
    evidence: {
      ...evidence(flow, 'poll'),
      proof: `the service lists as captured: ${captures.map(({ transactionId }) => transactionId).join(', ')}`,
    },
  };
}

export async function readPayment(flow: FlowState): Promise<PaymentRecord | undefined> {
  const { businessUnit, paymentId = '' } = flow;
  return await heeding(flow, () => read.getPayment({ businessUnit, paymentId }));
}

async function readCaptures(flow: FlowState): Promise<TransactionRecord[] | undefined> {
  const { businessUnit, paymentId = '', currency } = flow;
  return await heeding(flow, () => READS.capture.list({ businessUnit, paymentId, currency }));
}

async function heeding<Answer extends object>(
  flow: FlowState,
  call: () => Promise<Answer>,
): Promise<Answer | undefined> {
  let answer: Answer;
  try {
    answer = await call();
  } catch (error) {
    ignore(flow, 'readFailed');
    askOperatorIfRejected(flow, error);
    return undefined;
  }
  credentialsWork(flow);
  const { requestId } = decodedOrRetry(answer) as { requestId?: string };
  noteRequestId(flow, requestId);
  return answer;
}
