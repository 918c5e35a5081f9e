import { FAILURE_TYPES } from '../src/contract/failure-types.js';
import { type ProviderClient, ProviderError } from '../src/provider/index.js';
import type { PaymentDetails } from '../src/webhook/payment-owners.js';

/** Reads a payment's details for the webhook handler through the clients of all business units. */
export function createPaymentDetails(providers: ReadonlyMap<string, ProviderClient>): PaymentDetails {
  return async ({ businessUnit, paymentId }, timeoutMs) => {
    const provider = providers.get(businessUnit);
    if (provider === undefined) throw new Error(`Business unit "${businessUnit}" is not configured`);
    try {
      const { data } = await provider.getPayment(paymentId, { timeoutMs });
      return data.additionalDetails ?? {};
    } catch (error) {
      if (error instanceof ProviderError && error.failureType === FAILURE_TYPES.notFound) return undefined;
      throw error;
    }
  };
}
