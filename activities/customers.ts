import { ApplicationFailure } from '@temporalio/common';
import type {
  CreateCustomerCall,
  CustomerCall,
  FindCustomerCall,
  ListPaymentMethodsCall,
  PaymentMethodCall,
  StorePaymentMethodCall,
  TokenCall,
} from '../src/contract/activity-calls.js';
import { FAILURE_TYPES, type FailureDetails } from '../src/contract/names.js';
import type { CustomerRecord, PaymentMethodRecord } from '../src/contract/records.js';
import type { CustomerRequest, ProviderAnswer, StoredPaymentMethod } from '../src/provider/index.js';
import { mayBeLost } from './after-restore.js';
import {
  type ActivityDeps,
  isRefusedRead,
  providerFor,
  whyNoCards,
  orNothing,
  readCall,
  readOptions,
} from './read-call.js';
import { findEarlierResult, findSentBefore } from './engine-calls.js';
import { customerRecord, paymentMethodRecord } from './records.js';
import { sendDelete, sendKeyedPost } from './send-call.js';

/**
 * `POST /customers`. In a reset run, the customer that has the reference now is the answer: a reference has one
 * customer at most, and a second one could not be created.
 */
export async function createCustomer(deps: ActivityDeps, call: CreateCustomerCall): Promise<CustomerRecord> {
  return await sendKeyedPost(
    deps,
    call,
    async (provider, options) => customerRecord(await provider.createCustomer(customerRequest(call), options)),
    () => findCustomer(deps, { businessUnit: call.businessUnit, customerReference: call.customer.customerReference }),
  );
}

/** `GET /customers/{customer_id}` */
export async function getCustomer(deps: ActivityDeps, call: CustomerCall): Promise<CustomerRecord> {
  return await readCall(deps, call, async (provider, options) =>
    customerRecord(await provider.getCustomer(call.customerId, options)),
  );
}

/**
 * `GET /customers?customer_reference=`. The service answers an empty list if the reference's customer was deleted
 * and a 404 if the reference was never used: in both cases no customer has it now.
 */
export async function findCustomer(deps: ActivityDeps, call: FindCustomerCall): Promise<CustomerRecord | undefined> {
  const noCards = call.forCards === true ? whyNoCards(deps, call.businessUnit) : undefined;
  if (noCards !== undefined) {
    const details: FailureDetails = { mayHaveLeft: false };
    throw ApplicationFailure.nonRetryable(`Nothing was sent: ${noCards}`, FAILURE_TYPES.invalidInput, details);
  }
  return await orNothing(
    readCall(deps, call, async (provider, options) => {
      const { data, requestId } = await provider.findCustomer(call.customerReference, options);
      return data === undefined ? undefined : customerRecord({ data, requestId });
    }),
  );
}

function customerRequest({ customer, additionalDetails }: CreateCustomerCall): CustomerRequest {
  return { ...customer, ...(additionalDetails !== undefined && { additionalDetails }) };
}

/** `POST /customers/{customer_id}/payment-methods/{token}`. Repeated calls store a token once. */
export async function storePaymentMethod(
  deps: ActivityDeps,
  call: StorePaymentMethodCall,
): Promise<PaymentMethodRecord> {
  return await sendKeyedPost(
    deps,
    call,
    async (provider, options) =>
      paymentMethodRecord(await provider.storePaymentMethod(call.customerId, call.token, options)),
    async () => {
      await refuseIfNotStoredBefore(deps);
      return await orNothing(getPaymentMethod(deps, call));
    },
  );
}

/**
 * Keeps a result `consentedNotStored` of the run before a reset, which may have reversed the consent, and goes on with
 * what a run without a result has begun of that.
 */
async function refuseIfNotStoredBefore(deps: ActivityDeps): Promise<void> {
  const reason = await whyNotStoredBefore(deps);
  if (reason === undefined) return;
  const details: FailureDetails = { mayHaveLeft: false, consentGivenBack: true };
  throw ApplicationFailure.nonRetryable(reason, FAILURE_TYPES.stateConflict, details);
}

async function whyNotStoredBefore(deps: ActivityDeps): Promise<string | undefined> {
  const earlier = await findEarlierResult(deps);
  if (earlier?.['status'] === 'consentedNotStored')
    return typeof earlier['reason'] === 'string' ? earlier['reason'] : 'it did not say why';
  const { firstSent } = await findSentBefore(deps);
  const isRefunded = Object.keys(firstSent).some((key) => key.startsWith('refund:'));
  return isRefunded ? 'before a reset it could not be stored, and its consent was being refunded' : undefined;
}

/**
 * `GET /customers/{customer_id}/payment-methods/{token}`, or the card that the customer shows where that is refused: the
 * interface names no read of one card.
 */
export async function getPaymentMethod(deps: ActivityDeps, call: PaymentMethodCall): Promise<PaymentMethodRecord> {
  try {
    return await readCall(deps, call, async (provider, options) =>
      paymentMethodRecord(await provider.getPaymentMethod(call.customerId, call.token, options)),
    );
  } catch (error) {
    if (!isRefusedRead(error)) throw error;
    return await cardOfCustomer(deps, call, error);
  }
}

/** @throws ApplicationFailure `NotFound` only where the service shows that the customer has no such card, or is gone */
async function cardOfCustomer(
  deps: ActivityDeps,
  call: PaymentMethodCall,
  ofCard: unknown,
): Promise<PaymentMethodRecord> {
  const cards = await cardsOfCustomer(deps, call, ofCard).catch((error: unknown) => {
    if (error !== ofCard || !(error instanceof ApplicationFailure)) throw error;
    // Neither read is offered, or both are hidden by a proxy: that the card is there or not is shown by neither.
    throw ApplicationFailure.retryable(
      `Whether the card is on file could not be read: ${error.message}`,
      FAILURE_TYPES.providerUnavailable,
      ...(error.details ?? []),
    );
  });
  const card = cards.find((each) => isOf(each, call));
  if (card !== undefined) return card;
  if (isOwn404(ofCard)) throw ofCard;
  const details: FailureDetails = { mayHaveLeft: false };
  throw ApplicationFailure.nonRetryable('The service shows the customer without it', FAILURE_TYPES.notFound, details);
}

function isOf(card: PaymentMethodRecord, { token }: PaymentMethodCall): boolean {
  return card.token.toLowerCase() === token.toLowerCase();
}

/** `GET /customers/{customer_id}/payment-methods`, or the cards that the customer shows where that is refused. */
export async function listPaymentMethods(
  deps: ActivityDeps,
  call: ListPaymentMethodsCall,
): Promise<PaymentMethodRecord[]> {
  try {
    return await readCall(deps, call, async (provider, options) =>
      cardsOf(await provider.listPaymentMethods(call.customerId, options)),
    );
  } catch (error) {
    if (!isRefusedRead(error)) throw error;
    return await cardsOfCustomer(deps, call, error);
  }
}

function cardsOf({ data, requestId }: ProviderAnswer<StoredPaymentMethod[]>): PaymentMethodRecord[] {
  return data.map((method) => paymentMethodRecord({ data: method, requestId }));
}

/** The interface names no list of cards, and of a customer it says that its read shows them. */
async function cardsOfCustomer(
  deps: ActivityDeps,
  call: ListPaymentMethodsCall,
  ofList: unknown,
): Promise<PaymentMethodRecord[]> {
  try {
    return await readCall(deps, call, async (provider, options) => {
      const answer = await provider.getCustomer(call.customerId, options);
      return cardsOf({ ...answer, data: answer.data.paymentMethods });
    });
  } catch (error) {
    if (!isRefusedRead(error)) throw error;
    if (!isOwn404(error) || !(await isGone(deps, call))) throw ofList;
    const said = isOwn404(ofList) ? ofList : error;
    const details: FailureDetails = { ...(said.details?.[0] as FailureDetails), noCustomer: true };
    throw ApplicationFailure.nonRetryable(said.message, FAILURE_TYPES.notFound, details);
  }
}

/** A 404 with the service's own error body: that of a proxy says nothing of the customer. */
function isOwn404(error: unknown): error is ApplicationFailure {
  if (!(error instanceof ApplicationFailure) || error.type !== FAILURE_TYPES.notFound) return false;
  return (error.details?.[0] as Partial<FailureDetails> | undefined)?.category !== undefined;
}

/** False if the customer is still found by its reference: then the reads by its id are refused for another reason. */
async function isGone(
  deps: ActivityDeps,
  { businessUnit, customerId, customerReference }: ListPaymentMethodsCall,
): Promise<boolean> {
  if (customerReference === undefined) return true;
  return (await findCustomer(deps, { businessUnit, customerReference }))?.customerId !== customerId;
}

/** `DELETE /customers/{customer_id}/payment-methods/{token}` */
export async function deletePaymentMethod(deps: ActivityDeps, call: PaymentMethodCall): Promise<void> {
  const provider = providerFor(deps, call.businessUnit);
  const doubted = await sendDelete(() =>
    provider.deletePaymentMethod(call.customerId, call.token, readOptions()),
  ).catch((error: unknown) => {
    if (!isUnreadableSuccess(error)) throw error;
    return error;
  });
  if (doubted !== undefined) await refuseIfOnFile(deps, call, doubted);
}

/** A 2xx with a body that a deletion does not have: a proxy may have answered for the service. */
function isUnreadableSuccess(error: unknown): error is ApplicationFailure {
  if (!(error instanceof ApplicationFailure) || error.type !== FAILURE_TYPES.unexpectedResponse) return false;
  const { httpStatus } = (error.details?.[0] ?? {}) as Partial<FailureDetails>;
  return httpStatus !== undefined && httpStatus >= 200 && httpStatus < 300;
}

/** Believes such an answer only if the card is gone. Else the deletion is sent again. */
async function refuseIfOnFile(deps: ActivityDeps, call: PaymentMethodCall, answer: ApplicationFailure): Promise<void> {
  const { businessUnit, customerId } = call;
  const says = await listPaymentMethods(deps, { businessUnit, customerId }).then(
    (cards) => (cards.some((card) => isOf(card, call)) ? 'the card is still on file' : undefined),
    (error: unknown) => {
      const { details, message } =
        error instanceof ApplicationFailure ? error : { details: [], message: String(error) };
      const { noCustomer } = (details?.[0] ?? {}) as Partial<FailureDetails>;
      return noCustomer === true ? undefined : `whether the card is on file could not be read: ${message}`;
    },
  );
  if (says === undefined) return;
  throw ApplicationFailure.retryable(
    `Not removed, or not proven to be: ${says}; ${answer.message}`,
    FAILURE_TYPES.unexpectedResponse,
    ...(answer.details ?? []),
  );
}

/** `GET /tokens/{token}`. After a restore it is no obstacle that there is none: it may have been used in the lost time. */
export async function getToken(deps: ActivityDeps, call: TokenCall): Promise<PaymentMethodRecord> {
  try {
    return await readCall(deps, call, async (provider, options) =>
      paymentMethodRecord(await provider.getToken(call.token, options)),
    );
  } catch (error) {
    const isMissing = error instanceof ApplicationFailure && error.type === FAILURE_TYPES.notFound;
    if (!isMissing || !(await mayBeLost(deps))) throw error;
    const details: FailureDetails = { mayHaveLeft: true };
    throw ApplicationFailure.nonRetryable(
      `There is no such token, which after a restore from a backup tells nothing: ${error.message}`,
      FAILURE_TYPES.outcomeUnknown,
      details,
    );
  }
}
