import { ActivityFailure, ApplicationFailure, proxyActivities } from '@temporalio/workflow';
import type { PaymentActivities } from '../src/contract/activities.js';
import type { ListedCards, RemovedCard } from '../src/contract/cards.js';
import { FAILURE_TYPES } from '../src/contract/names.js';
import { FLOWS } from '../src/contract/flows.js';
import { parseStart } from './kit/start-guard.js';
import { decodedOrRetry } from './kit/decoded-or-retry.js';

/** No money moves: retried until the service answers, for one day at most. */
const calls = proxyActivities<Pick<PaymentActivities, 'listPaymentMethods' | 'deletePaymentMethod'>>({
  startToCloseTimeout: '20 seconds',
  scheduleToCloseTimeout: '1 day',
  retry: { initialInterval: '1 second', backoffCoefficient: 2, maximumInterval: '60 seconds' },
});

/**
 * The cards that a customer has on file.
 *
 * Fails with the service's refusal: `NotFound` if there is no such customer, `InvalidInput` if the unit stores no
 * cards, `CredentialsRejected`; with `ProviderUnavailable` if it did not answer for a day.
 */
export async function listCards(raw: unknown): Promise<ListedCards> {
  const { customerId, businessUnit } = parseStart(FLOWS.listCards, raw);
  const cards = await typed(calls.listPaymentMethods({ businessUnit, customerId }));
  return { customerId, cards: decodedOrRetry(cards) };
}

/** Takes a card off file; its token can't be used any more. Fails like {@link listCards}. */
export async function removeCard(raw: unknown): Promise<RemovedCard> {
  const { customerId, businessUnit, token } = parseStart(FLOWS.removeCard, raw);
  await typed(calls.deletePaymentMethod({ businessUnit, customerId, token }));
  return { customerId, token, status: 'removed' };
}

/** Throws the failure itself: callers decide by its type. */
async function typed<Answer>(call: Promise<Answer>): Promise<Answer> {
  try {
    return await call;
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    const { cause } = error;
    if (cause instanceof ApplicationFailure) throw cause;
    const why = cause?.message ?? error.message;
    throw ApplicationFailure.nonRetryable(`The service did not answer: ${why}`, FAILURE_TYPES.providerUnavailable);
  }
}
