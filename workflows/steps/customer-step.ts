import type { ParsedStoreCardInput } from '../../src/contract/cards.js';
import { FAILURE_TYPES } from '../../src/contract/names.js';
import type { CustomerRecord } from '../../src/contract/records.js';
import { postUntil } from '../../src/domain/schedules.js';
import { decidesAfterReset, invalidInput } from '../kit/start-guard.js';
import { type FlowState, noteRequestId } from '../flow/state.js';
import { read } from '../policies.js';
import { attempt, type Found } from './attempt.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { classifyFailure, refusedAs } from './failures.js';

type CustomerInput = Pick<ParsedStoreCardInput, 'customer' | 'networkTokens'>;

/**
 * Finds or creates the customer of a merchant's reference. Two flows that create it at once end with the same customer:
 * the reference is unique at the service, so the loser of the race finds the winner's customer.
 * @throws ApplicationFailure a believed refusal of the service, or of a unit that can't store cards
 */
export async function customerOf(
  flow: FlowState,
  { customer, networkTokens }: CustomerInput,
): Promise<UsableCustomer | { lastFailure: string }> {
  const known = await findCustomer(flow, customer.customerReference);
  if ('found' in known && known.found !== undefined) return checked(known.found, networkTokens);
  const sent = await attempt<CustomerRecord>(flow, {
    operation: 'createCustomer',
    sequence: 1,
    movesMoney: false,
    postUntil: postUntil(flow.startedAt, false),
    tryLocally: false,
    post: (activities, call) => activities.createCustomer({ ...call, customer }),
    find: () => findCustomer(flow, customer.customerReference),
  });
  if (sent.answer === undefined) return { lastFailure: sent.lastFailure };
  noteRequestId(flow, sent.answer.requestId);
  return checked(sent.answer, networkTokens);
}

interface UsableCustomer extends CustomerRecord {
  /** After a reset: why the flow would have been refused. The run before may have sent something, this one only reads. */
  readOnlyReason?: string;
}

/** An existing customer is never changed: an update would overwrite what others have stored with it. */
function checked(customer: CustomerRecord, networkTokens: boolean): UsableCustomer {
  if (!networkTokens || customer.hasEmail === true) return customer;
  const why = `customer.email: customer ${customer.customerId} exists without one, and network tokens need it; add it there first`;
  if (!decidesAfterReset()) throw invalidInput([why]);
  return { ...customer, readOnlyReason: why };
}

async function findCustomer(flow: FlowState, customerReference: string): Promise<Found<CustomerRecord>> {
  flow.inLocalTry = false;
  let found: CustomerRecord | undefined;
  try {
    const { businessUnit, madeUnder } = flow;
    found = await read.findCustomer({ businessUnit, madeUnder, customerReference, forCards: true });
  } catch (error) {
    // Only the business unit's configuration refuses this read, before anything is sent. After a reset the earlier run
    // may have sent something, so the flow doesn't fail then.
    const refused = refusedAs(error, FAILURE_TYPES.invalidInput);
    if (refused !== undefined && !decidesAfterReset()) throw refused;
    return { unreadable: classifyFailure(error).message };
  }
  // An activity that returns undefined yields null.
  return { found: found == null ? undefined : decodedOrRetry(found) };
}
