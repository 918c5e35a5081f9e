import { ApplicationFailure } from '@temporalio/common';
import { FAILURE_TYPES } from '../../src/contract/failure-types.js';
import { type ParsedSubscriptionInput, subscriptionInputSchema } from '../../src/contract/subscription.js';
import type { OpenedSubscription, OpenSubscriptionCall } from '../../src/contract/billing-activities.js';
import { checkSubscription } from '../../src/domain/check-subscription.js';
import type { ActivityDeps } from '../deps.js';
import { getCustomer, getPaymentMethod } from '../customers.js';
import { type NotifyDeps, notifyFaults } from './notify-merchant.js';

/**
 * Returns all faults of a new subscription at once: of its fields, of its day, and of card and customer as the service
 * knows them.
 * @throws ApplicationFailure (retried) when the service does not answer
 */
export async function openSubscription(
  deps: ActivityDeps & NotifyDeps,
  { raw, now }: OpenSubscriptionCall,
): Promise<OpenedSubscription> {
  const checked = checkSubscription(raw, now);
  const ofInput = 'faults' in checked ? checked.faults : [];
  // With a fault in a field there is no parsed input to check further; with a wrong day there is.
  const input = subscriptionInputSchema.safeParse(raw).data;
  if (input === undefined) return { faults: ofInput };
  const known = await cardFaults(deps, input);
  const faults = [...ofInput, ...notifyFaults(deps, input), ...known.faults];
  if (faults.length > 0) return { faults };
  return known.last4Digits === undefined ? {} : { last4Digits: known.last4Digits };
}

async function cardFaults(
  deps: ActivityDeps,
  { businessUnit, customerId, token }: ParsedSubscriptionInput,
): Promise<{ faults: string[]; last4Digits?: string }> {
  const [customer, card] = await Promise.all([
    orFault('customerId', getCustomer(deps, { businessUnit, customerId })),
    orFault('token', getPaymentMethod(deps, { businessUnit, customerId, token })),
  ]);
  const faults = [customer, card].flatMap((each) => ('fault' in each ? [each.fault] : []));
  const last4Digits = 'found' in card ? card.found.last4Digits : undefined;
  return { faults, ...(last4Digits !== undefined && { last4Digits }) };
}

/** Turns a definite refusal by the service into a fault of the input; any other failure is rethrown and retried. */
async function orFault<Found>(field: string, asked: Promise<Found>): Promise<{ found: Found } | { fault: string }> {
  try {
    return { found: await asked };
  } catch (error) {
    const certain: readonly string[] = [
      FAILURE_TYPES.notFound,
      FAILURE_TYPES.invalidInput,
      FAILURE_TYPES.stateConflict,
    ];
    if (error instanceof ApplicationFailure && certain.includes(error.type ?? '')) {
      return { fault: `${field}: ${error.message}` };
    }
    throw error;
  }
}
