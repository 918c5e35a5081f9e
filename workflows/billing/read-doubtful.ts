import { ActivityFailure } from '@temporalio/workflow';
import type { FlowReading } from '../../src/contract/engine-port.js';
import type { SettleManually } from '../../src/contract/messages.js';
import { FAILURE_TYPES, paymentWorkflowId } from '../../src/contract/names.js';
import type { Declined, Evidence, FinalStepOutcome } from '../../src/contract/outcome.js';
import type { TransactionRecord } from '../../src/contract/records.js';
import { isFinal } from '../../src/domain/settling.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { lookAtAttempt, read } from '../policies.js';
import { doubtfulOf } from './bills.js';
import type { Billing, OpenPeriod, Refusal } from './state.js';

type DeclinedFor = Pick<Declined, 'category' | 'subCategory'>;
type Doubtful = { succeeded: FinalStepOutcome } | Refusal | { declinedFor?: DeclinedFor };

/**
 * Reads the payment in doubt before the bill is tried again at a person's word: what they have seen may be old, and the
 * period would be billed twice. Where neither its flow nor the service tells, that word counts.
 */
export async function readDoubtful(flow: Billing, open: OpenPeriod, { status }: SettleManually): Promise<Doubtful> {
  const reference = doubtfulOf(flow, open);
  let reading: FlowReading;
  try {
    reading = decodedOrRetry(await lookAtAttempt.readAttempt(paymentWorkflowId(reference)));
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return {
      refusal: `payment ${reference} could not be looked up (${error.cause?.message ?? error.message}); send this again`,
      type: FAILURE_TYPES.providerUnavailable,
    };
  }
  if (reading.state === 'open')
    return { refusal: `payment ${reference} is under way again; once it has ended, send this again` };
  const { outcome } = reading.state === 'ended' ? reading : {};
  if (outcome?.status === 'succeeded') return { succeeded: outcome };
  if (outcome?.status === 'declined' && outcome.confirmed) {
    const { category, subCategory } = outcome;
    if (status === 'notExecuted') return { refusal: `payment ${reference} has ended declined (${category})` };
    return declinedFor(category, subCategory);
  }
  const { paymentId, transactionId: followed } = idsOf(reading);
  if (paymentId === undefined) return {};
  const record = await readCharge(flow, { reference, paymentId, transactionId: followed });
  if (record === undefined) return {};
  const { transactionId, amount = open.amount } = record;
  if (record.status === 'Succeed') {
    const of = { reference, amount, currency: flow.input.currency, paymentId, transactionId };
    return { succeeded: { ...of, status: 'succeeded', evidence: evidenceOf(open, record) } };
  }
  const said = `the payment service says ${record.status} for transaction ${transactionId}`;
  // It may still take the money, after the next try has.
  if (record.status === 'Pending') return { refusal: `${said}; once it has ended, send this again` };
  if (!isFinal(record)) return {};
  if (status === 'notExecuted') return { refusal: said };
  const { category, subCategory } = record;
  if (category === undefined) return {};
  return declinedFor(category, subCategory);
}

/** Nothing else of it counts: the end of the payment is what a person says, and by their evidence. */
function declinedFor(category: string, subCategory: string | undefined): { declinedFor: DeclinedFor } {
  return { declinedFor: { category, ...(subCategory !== undefined && { subCategory }) } };
}

interface Ids {
  paymentId?: string | undefined;
  transactionId?: string | undefined;
}

interface Looked extends Ids {
  reference: string;
  paymentId: string;
}

function idsOf(reading: FlowReading): Ids {
  if (reading.state === 'ended') return reading.outcome;
  return reading.state === 'lost' ? { paymentId: reading.paymentId } : {};
}

/** The charge of the payment, one that has succeeded before all others; undefined if none can be read. */
async function readCharge(
  { input }: Billing,
  { reference, paymentId, transactionId }: Looked,
): Promise<TransactionRecord | undefined> {
  const { businessUnit, currency } = input;
  const call = { businessUnit, paymentId, currency };
  try {
    if (transactionId !== undefined) return decodedOrRetry(await read.getCharge({ ...call, transactionId }));
    const all = decodedOrRetry(await read.listCharges(call));
    // The id of the payment stands in clear: what is there under the key of another flow is another bill's.
    const isOurs = ({ holdfastKey }: TransactionRecord): boolean =>
      holdfastKey?.startsWith(`${paymentWorkflowId(reference)}:`) !== false;
    const charges = all.filter(isOurs);
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
