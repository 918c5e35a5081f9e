import { ApplicationFailure } from '@temporalio/common';
import type {
  CustomerCall,
  PaymentMethodCall,
  StorePaymentMethodCall,
  TokenCall,
} from '../src/contract/activity-calls.js';
import type { FailureDetails } from '../src/contract/failure-types.js';
import { FAILURE_TYPES } from '../src/contract/failure-types.js';
import type { PaymentMethodRecord } from '../src/contract/records.js';
import type { ActivityDeps } from './deps.js';
import { providerFor } from './deps.js';
import { findEarlierResult } from './find-earlier-result.js';
import { keyedPost } from './keyed-post.js';
import { orNothing, readCall, readOptions } from './read-call.js';
import { paymentMethodRecord } from './records.js';
import { removal } from './repeatable.js';

/** `POST /customers/{customer_id}/payment-methods/{token}`. A token is stored once, however often that is asked for. */
export async function storePaymentMethod(
  deps: ActivityDeps,
  call: StorePaymentMethodCall,
): Promise<PaymentMethodRecord> {
  return await keyedPost(
    deps,
    call,
    async (provider, options) => {
      const { data, requestId } = await provider.storePaymentMethod(call.customerId, call.token, options);
      return paymentMethodRecord(data, requestId);
    },
    async () => {
      await refuseIfToldOtherwise(deps);
      return await orNothing(getPaymentMethod(deps, call));
    },
  );
}

/** The run before a reset has told that the card is not on file, and may have given its consent back: that stays so. */
async function refuseIfToldOtherwise(deps: ActivityDeps): Promise<void> {
  const told = await findEarlierResult(deps);
  if (told?.['status'] !== 'consentedNotStored') return;
  const reason = typeof told['reason'] === 'string' ? told['reason'] : 'it did not say why';
  const details: FailureDetails = { mayHaveLeft: false };
  throw ApplicationFailure.nonRetryable(reason, FAILURE_TYPES.stateConflict, details);
}

/** `GET /customers/{customer_id}/payment-methods/{token}` */
export async function getPaymentMethod(deps: ActivityDeps, call: PaymentMethodCall): Promise<PaymentMethodRecord> {
  const provider = providerFor(deps, call.businessUnit);
  return await readCall(async () => {
    const { data, requestId } = await provider.getPaymentMethod(call.customerId, call.token, readOptions());
    return paymentMethodRecord(data, requestId);
  });
}

/** `GET /customers/{customer_id}/payment-methods` */
export async function listPaymentMethods(deps: ActivityDeps, call: CustomerCall): Promise<PaymentMethodRecord[]> {
  const provider = providerFor(deps, call.businessUnit);
  return await readCall(async () => {
    const { data, requestId } = await provider.listPaymentMethods(call.customerId, readOptions());
    return data.map((method) => paymentMethodRecord(method, requestId));
  });
}

/** `DELETE /customers/{customer_id}/payment-methods/{token}` */
export async function deletePaymentMethod(deps: ActivityDeps, call: PaymentMethodCall): Promise<void> {
  const provider = providerFor(deps, call.businessUnit);
  await removal(() => provider.deletePaymentMethod(call.customerId, call.token, readOptions()));
}

/** `GET /tokens/{token}` */
export async function getToken(deps: ActivityDeps, call: TokenCall): Promise<PaymentMethodRecord> {
  const provider = providerFor(deps, call.businessUnit);
  return await readCall(async () => {
    const { data, requestId } = await provider.getToken(call.token, readOptions());
    return paymentMethodRecord(data, requestId);
  });
}
