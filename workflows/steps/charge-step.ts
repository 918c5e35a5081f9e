import type { ParsedChargeInput } from '../../src/contract/charge.js';
import { idempotencyKey } from '../../src/contract/idempotency-key.js';
import { WIRE_DETAILS } from '../../src/contract/names.js';
import type { PaymentRecord, TransactionRecord } from '../../src/contract/transaction.js';
import { findOurs } from '../../src/domain/ownership.js';
import { postUntil } from '../../src/domain/windows.js';
import type { FlowState } from '../flow/state.js';
import { enter, publish } from '../flow/visibility.js';
import type { StartShape } from '../policies.js';
import { read } from '../policies.js';
import type { Found, Step } from './attempt.js';
import { decodedOrRetry } from './decoded-or-retry.js';
import { askOperatorIfRejected, credentialsWork } from './operator.js';
import { readTransaction } from './read-transaction.js';

/** A task heartbeat must not fall between the two local calls, so the first one has to have been quick. */
const QUICK_MS = 3_000;

/** A charge can always be looked for, since charges are listed under their payment. */
export type ChargeStep = Step<TransactionRecord> & Required<Pick<Step<TransactionRecord>, 'find'>>;

/** The one charge of a flow as a step: how it is sent and how it is looked for. */
export function chargeStep(
  flow: FlowState,
  input: ParsedChargeInput,
  payment: PaymentRecord,
  shape: StartShape,
): ChargeStep {
  const key = idempotencyKey(flow.workflowId, 'createCharge', 1);
  const { paymentId } = payment;
  return {
    operation: 'createCharge',
    sequence: 1,
    movesMoney: true,
    postUntil: postUntil(flow.startedAt, input.paymentMethod.encryptedCvv !== undefined),
    tryLocally: shape.charge && payment.localMs !== undefined && payment.localMs < QUICK_MS,
    lostTaskMayHaveSent: shape.charge && flow.startedByClient,
    post: (activities, call) =>
      activities.createCharge({
        ...call,
        paymentId,
        currency: flow.currency,
        reconciliationId: flow.reference,
        charge: {
          paymentMethod: input.paymentMethod,
          ...(input.clientIpAddress !== undefined && { clientIpAddress: input.clientIpAddress }),
          ...(input.cardOnFile !== undefined && { cardOnFile: input.cardOnFile }),
        },
        additionalDetails: { [WIRE_DETAILS.key]: key },
      }),
    find: () => findCharge(flow, paymentId, key),
  };
}

async function findCharge(flow: FlowState, paymentId: string, key: string): Promise<Found<TransactionRecord>> {
  flow.inLocalTry = false;
  if (flow.hintedTransactionId !== undefined) {
    const hinted = await readTransaction(flow, flow.hintedTransactionId);
    if (hinted !== undefined) return { found: hinted };
  }
  let records: TransactionRecord[];
  try {
    records = await read.listCharges({ businessUnit: flow.businessUnit, paymentId, currency: flow.currency });
  } catch (error) {
    askOperatorIfRejected(flow, error);
    return { unreadable: error instanceof Error ? error.message : String(error) };
  }
  credentialsWork(flow);
  const search = findOurs(decodedOrRetry(records), { key, reconciliationId: flow.reference });
  if (search.found !== undefined || search.ambiguous === undefined) return { found: search.found };
  const why = `charges on payment ${paymentId} that may or may not be ours: ${search.ambiguous.join(', ')}`;
  if (flow.needsOperator !== why) {
    enter(flow, { needsOperator: why });
    publish(flow);
  }
  return { unreadable: why };
}
