import { ApplicationFailure } from '@temporalio/common';
import type { CreateCustomerCall, CustomerCall, FindCustomerCall } from '../src/contract/activity-calls.js';
import type { FailureDetails } from '../src/contract/failure-types.js';
import { FAILURE_TYPES } from '../src/contract/failure-types.js';
import type { CustomerRecord } from '../src/contract/records.js';
import type { CustomerRequest } from '../src/provider/index.js';
import type { ActivityDeps } from './deps.js';
import { providerFor, whyNoCards } from './deps.js';
import { keyedPost } from './keyed-post.js';
import { orNothing, readCall, readOptions } from './read-call.js';
import { customerRecord } from './records.js';

/**
 * `POST /customers`. In a run made by a reset, the customer that has the reference now is the answer:
 * there is one at most, and a second one could not be made.
 */
export async function createCustomer(deps: ActivityDeps, call: CreateCustomerCall): Promise<CustomerRecord> {
  return await keyedPost(
    deps,
    call,
    async (provider, options) => {
      const { data, requestId } = await provider.createCustomer(customerRequest(call), options);
      return customerRecord(data, requestId);
    },
    () => findCustomer(deps, { businessUnit: call.businessUnit, customerReference: call.customer.customerReference }),
  );
}

/** `GET /customers/{customer_id}` */
export async function getCustomer(deps: ActivityDeps, call: CustomerCall): Promise<CustomerRecord> {
  const provider = providerFor(deps, call.businessUnit);
  return await readCall(async () => {
    const { data, requestId } = await provider.getCustomer(call.customerId, readOptions());
    return customerRecord(data, requestId);
  });
}

/**
 * `GET /customers?customer_reference=`. The service answers an empty list for a reference whose customer
 * was deleted and a 404 for one that was never used; either way nobody has it now.
 */
export async function findCustomer(deps: ActivityDeps, call: FindCustomerCall): Promise<CustomerRecord | undefined> {
  const provider = providerFor(deps, call.businessUnit);
  const noCards = call.forCards === true ? whyNoCards(deps, call.businessUnit) : undefined;
  if (noCards !== undefined) {
    const details: FailureDetails = { mayHaveLeft: false };
    throw ApplicationFailure.nonRetryable(`Nothing was sent: ${noCards}`, FAILURE_TYPES.invalidInput, details);
  }
  return await orNothing(
    readCall(async () => {
      const { data, requestId } = await provider.findCustomer(call.customerReference, readOptions());
      return data === undefined ? undefined : customerRecord(data, requestId);
    }),
  );
}

function customerRequest({ customer, additionalDetails }: CreateCustomerCall): CustomerRequest {
  return { ...customer, ...(additionalDetails !== undefined && { additionalDetails }) };
}
