import { ActivityFailure } from '@temporalio/workflow';
import type { FlowReading } from '../../src/contract/engine-port.js';
import type { SettleManually } from '../../src/contract/messages.js';
import { paymentWorkflowId } from '../../src/contract/names.js';
import type { Evidence, FinalStepOutcome } from '../../src/contract/outcome.js';
import type { TransactionRecord } from '../../src/contract/records.js';
import { isFinal } from '../../src/domain/settling.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { billing, read } from '../policies.js';
import { doubtfulOf } from './classify-attempt.js';
import type { Billing, OpenPeriod, Refusal } from './state.js';

/** `declinedFor`: a category or sub-category. */
type Doubtful = { succeeded: FinalStepOutcome } | Refusal | { declinedFor?: string };

/**
 * Reads the payment in doubt before the bill is tried again at a person's word: what they have seen may be old, and the
 * period would be billed twice. Where neither its flow nor the service tells, that word counts.
 */
export async function readDoubtful(flow: Billing, open: OpenPeriod, { status }: SettleManually): Promise<Doubtful> {
  const reference = doubtfulOf(flow, open);
  const reading = decodedOrRetry(await billing.readAttempt(paymentWorkflowId(reference)));
  if (reading.state === 'open')
    return { refusal: `payment ${reference} is under way again; once it has ended, send this again` };
  if (reading.state === 'ended' && reading.outcome.status === 'succeeded') return { succeeded: reading.outcome };
  const { paymentId, transactionId: followed } = idsOf(reading);
  if (paymentId === undefined) return {};
  const record = await readCharge(flow, paymentId, followed);
  if (record === undefined) return {};
  const { transactionId, amount = open.amount } = record;
  if (record.status === 'Succeed') {
    const of = { reference, amount, currency: flow.input.currency, paymentId, transactionId };
    return { succeeded: { ...of, status: 'succeeded', evidence: evidenceOf(open, record) } };
  }
  if (status === 'notExecuted' && (record.status === 'Pending' || isFinal(record)))
    return { refusal: `the payment service says ${record.status} for transaction ${transactionId}` };
  const category = isFinal(record) ? (record.subCategory ?? record.category) : undefined;
  return category === undefined ? {} : { declinedFor: category };
}

interface Ids {
  paymentId?: string | undefined;
  transactionId?: string | undefined;
}

function idsOf(reading: FlowReading): Ids {
  if (reading.state === 'ended') return reading.outcome;
  return reading.state === 'lost' ? { paymentId: reading.paymentId } : {};
}

/** The charge of the payment, one that has succeeded before all others; undefined if none can be read. */
async function readCharge(
  { input }: Billing,
  paymentId: string,
  transactionId: string | undefined,
): Promise<TransactionRecord | undefined> {
  const { businessUnit, currency } = input;
  const call = { businessUnit, paymentId, currency };
  try {
    if (transactionId !== undefined) return decodedOrRetry(await read.getCharge({ ...call, transactionId }));
    const charges = decodedOrRetry(await read.listCharges(call));
    return charges.find(({ status }) => status === 'Succeed') ?? charges.at(-1);
  } catch (error) {
    if (error instanceof ActivityFailure) return undefined;
    throw error;
  }
}

function evidenceOf({ attempts }: OpenPeriod, { requestId }: TransactionRecord): Evidence {
  const at = new Date(Date.now()).toISOString();
  const requestIds = requestId === undefined ? [] : [requestId];
  return { knownBy: 'poll', requestIds, attempts, startedAt: at, settledAt: at };
}
