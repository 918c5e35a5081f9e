import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { messageOf } from '../src/contract/message-of.js';
import type { CreatePaymentCall } from '../src/contract/activity-calls.js';
import { idempotencyKey } from '../src/contract/idempotency.js';
import { FAILURE_TYPES, type FailureDetails, WORKFLOW_TYPES } from '../src/contract/names.js';
import type { PaymentRecord } from '../src/contract/records.js';
import type { ClaimAnswer, ReferenceBook, ReferenceClaim } from '../src/contract/reference-book.js';
import { ProviderError } from '../src/provider/index.js';
import { type ActivityDeps, readCall, saysNoPayment } from './read-call.js';
import { readPaymentRecord } from './records.js';
import { READ_KNOWLEDGE, REFERENCE_BOOK, toApplicationFailure } from './to-application-failure.js';

type Taken = Extract<ClaimAnswer, { owner: 'another flow' }>;

/** Flows that, on a payment which they did not create, only read, or look before they send. */
const ADOPTING: readonly string[] = [WORKFLOW_TYPES.charge, WORKFLOW_TYPES.authorizeAndCapture, WORKFLOW_TYPES.credit];

/**
 * Sends `POST /payments` between the flow's claim to its reference and the entry of the payment's id. Without a
 * reference book it only sends. The flow does not know the payment before the book does, so it moves no money on a
 * payment that the book lacks.
 * @returns the payment of an earlier flow of the same reference and input, if there is one: nothing was sent then
 * @throws ProviderError if the book does not answer, or another flow has the reference
 */
export async function withReferenceClaimed(
  deps: ActivityDeps,
  call: CreatePaymentCall,
  send: () => Promise<PaymentRecord>,
): Promise<PaymentRecord> {
  const claimed = await askBook(deps, 'claim');
  if (claimed === undefined) return await send();
  const earlier = await earlierPayment(deps, call, claimed);
  if (earlier !== undefined) return earlier;
  const payment = await send();
  await notePayment(claimed, payment);
  return payment;
}

/**
 * The same for a flow that may not send, and so claims nothing: what an earlier flow of its reference has charged counts
 * as nothing sent otherwise, and is charged again under the next reference.
 * @returns undefined if no other flow has the reference
 * @throws ProviderError as {@link withReferenceClaimed}
 */
export async function paymentOfReference(
  deps: ActivityDeps,
  call: CreatePaymentCall,
): Promise<PaymentRecord | undefined> {
  const looked = await askBook(deps, 'ownerOf');
  return looked === undefined ? undefined : await earlierPayment(deps, call, looked);
}

/**
 * Asked before a flow concludes that nothing was sent under its reference: the payment that another flow has made under
 * it may be charged, though it could not be read as long as this one might send.
 * @throws ApplicationFailure `ReferenceConflict`, which ends the flow; Error (retried) if the book does not answer
 */
export async function refuseIfTaken(deps: ActivityDeps): Promise<void> {
  const looked = await askBook(deps, 'ownerOf');
  if (looked?.answer.owner !== 'another flow') return;
  const { book, claim, answer } = looked;
  try {
    const paymentId = toAdopt(answer, claim, book.namespace, true);
    throw conflict(
      answer,
      `it made payment ${paymentId}, which could not be read; look at the service what became of it`,
    );
  } catch (taken) {
    throw toApplicationFailure(taken, READ_KNOWLEDGE);
  }
}

async function earlierPayment(
  deps: ActivityDeps,
  call: CreatePaymentCall,
  { book, workflowId, claim, answer }: Asked,
): Promise<PaymentRecord | undefined> {
  if (answer.owner !== 'another flow') return undefined;
  const { workflowType = '' } = activityInfo();
  const adopts = ADOPTING.includes(workflowType) && call.key === idempotencyKey(workflowId, 'createPayment', 1);
  const paymentId = toAdopt(answer, claim, book.namespace, adopts);
  return await readEarlierPayment(deps, call, answer, paymentId);
}

/**
 * Enters a payment that the flow has not created and goes on with, since the statement of a restore names it. A row of
 * another flow stays as it is: that flow has made the payment.
 * @throws ProviderError if the book does not answer
 */
export async function enterAdopted(deps: ActivityDeps, payment: PaymentRecord): Promise<void> {
  const claimed = await askBook(deps, 'claim');
  if (claimed?.answer.owner === 'this flow') await notePayment(claimed, payment);
}

interface Asked {
  book: ReferenceBook;
  workflowId: string;
  claim: ReferenceClaim;
  answer: ClaimAnswer;
}

/** @returns undefined without a reference book, or where nobody has the reference, and it was not claimed */
async function askBook(
  { referenceBook: book, engine }: ActivityDeps,
  how: 'claim' | 'ownerOf',
): Promise<Asked | undefined> {
  const { workflowExecution } = activityInfo();
  if (book === undefined || workflowExecution === undefined) return undefined;
  const { workflowId, runId } = workflowExecution;
  const claim = await engine.claimOf(workflowId, runId).catch((error: unknown) => {
    throw new ProviderError(`Not sent: the flow's claim to its reference can't be read: ${textOf(error)}`, {
      ...NOT_SENT,
      operation: 'claimOf',
    });
  });
  const answer = await book[how](workflowId, claim).catch((error: unknown) => {
    throw new ProviderError(`Not sent: the reference book does not answer: ${textOf(error)}`, NOT_SENT);
  });
  return answer && { book, workflowId, claim, answer };
}

async function notePayment({ book, workflowId, claim }: Asked, { paymentId }: PaymentRecord): Promise<void> {
  await book.notePayment(workflowId, claim, paymentId).catch((error: unknown) => {
    throw new ProviderError(
      `Payment ${paymentId} was created, and nothing is sent on it before the reference book holds it: ${textOf(error)}`,
      { kind: 'lost', operation: REFERENCE_BOOK, mayHaveLeft: true },
    );
  });
}

const NOT_SENT = { kind: 'refused', operation: REFERENCE_BOOK, mayHaveLeft: false } as const;

function textOf(error: unknown): string {
  return messageOf(error);
}

/**
 * Returns the payment id of the earlier flow, which this flow may go on with. Two flows of one namespace are never open
 * under one workflow id, so that flow has ended; in another namespace it may still be charging.
 * @throws ProviderError `ReferenceConflict`
 */
function toAdopt(taken: Taken, claim: ReferenceClaim, namespace: string, adopts: boolean): string {
  const { paymentId } = taken;
  if (paymentId === undefined)
    throw conflict(taken, 'the book names no payment of it; look at the service by the reference');
  const made = `it made payment ${paymentId}`;
  if (taken.namespace !== namespace) throw conflict(taken, `${made}, in namespace "${taken.namespace}"`);
  if (taken.fingerprint !== claim.fingerprint) throw conflict(taken, `${made}, for another request`);
  if (!adopts) throw conflict(taken, `${made}; look at the service what became of it`);
  return paymentId;
}

async function readEarlierPayment(
  deps: ActivityDeps,
  { businessUnit }: CreatePaymentCall,
  taken: Taken,
  paymentId: string,
): Promise<PaymentRecord> {
  const read = readCall(deps, { businessUnit }, async (provider, options) =>
    readPaymentRecord(await provider.getPayment(paymentId, options)),
  );
  const payment = await read.catch(nothingIfAbsent);
  if (payment === undefined) throw conflict(taken, `it made payment ${paymentId}, which the service no longer shows`);
  const madeUnder = deps.units?.get(businessUnit)?.madeUnder;
  return { ...payment, ofEarlierFlow: true, ...(madeUnder !== undefined && { madeUnder }) };
}

/** The conflict ends the flow for good, so that only the service's own word counts. Of any other 404 it asks again. */
function nothingIfAbsent(error: unknown): undefined {
  if (!(error instanceof ApplicationFailure) || error.type !== FAILURE_TYPES.notFound) throw error;
  const details = (error.details?.[0] ?? {}) as FailureDetails;
  if (saysNoPayment(details)) return undefined;
  throw ApplicationFailure.retryable(error.message, FAILURE_TYPES.providerUnavailable, details);
}

function conflict({ firstRunId, claimedAt }: Taken, what: string): ProviderError {
  return new ProviderError(
    `Nothing was sent by this flow: run ${firstRunId} has used its reference since ${claimedAt}, and ${what}`,
    {
      kind: 'request',
      operation: REFERENCE_BOOK,
      mayHaveLeft: false,
      failureType: FAILURE_TYPES.referenceConflict,
    },
  );
}
