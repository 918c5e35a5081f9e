import { z } from 'zod';
import { paymentWorkflowId, subscriptionWorkflowId } from '../../src/contract/names.js';
import type { Done, Said } from './answers.js';
import { minorUnits, shortText } from './fields.js';
import { type Holdfast, WAIT } from './holdfast.js';
import { isKnown, sayOutcome } from './say-outcome.js';
import { sayStatus } from './texts.js';

/** Minor units, held for a moment while the buyer consents. From 5000 on the mock provider voids at once. */
const CONSENT = 6_000;

export const checkoutSchema = z.strictObject({
  flow: z.enum(['charge', 'authorize', 'subscribe']),
  reference: shortText,
  /** A decimal such as "10.95". */
  amount: shortText,
  currency: shortText,
  token: shortText,
});

interface Purchase {
  reference: string;
  /** Minor units. */
  amount: number;
  currency: string;
  paymentMethod: { type: 'tokenized'; token: string };
}

/**
 * Starts the flow, or joins the one of that reference. May be repeated.
 * @throws HoldfastError
 */
export async function checkOut(holdfast: Holdfast, asked: z.output<typeof checkoutSchema>): Promise<Done> {
  const { flow, reference, currency, token } = asked;
  const amount = minorUnits(asked.amount, currency);
  const purchase: Purchase = { reference, amount, currency, paymentMethod: { type: 'tokenized', token } };
  if (flow === 'subscribe') return await signUp(holdfast, purchase);
  const outcome = flow === 'charge' ? await holdfast.charge(purchase, WAIT) : await holdfast.authorize(purchase, WAIT);
  return doneBy(paymentWorkflowId(reference), outcome, sayOutcome(outcome));
}

/** Stores the card by a consent of the buyer, and bills it monthly from now on. */
async function signUp(holdfast: Holdfast, purchase: Purchase): Promise<Done> {
  const { reference, amount, currency } = purchase;
  const card = { ...purchase, reference: `${reference}-card`, amount: CONSENT };
  const stored = await holdfast.storeCard({ ...card, customer: { customerReference: reference } }, WAIT);
  if (stored.status !== 'stored') {
    const said = sayOutcome(stored);
    const again = isKnown(stored) ? 'Sign up again with another card.' : 'Send the same request again in a while.';
    const toDo = said.tone === 'person' ? said.toDo : again;
    const what = `The card is not on file. ${said.what}`;
    return doneBy(paymentWorkflowId(card.reference), stored, { ...said, what, toDo });
  }
  const { customerId, token, consentTransactionId } = stored;
  // Day and time are those of the consent, so that a repeated sign-up has the same terms.
  const consented = new Date(stored.evidence.settledAt).toISOString();
  const outcome = await holdfast.subscribe(
    {
      reference,
      customerId,
      token,
      ...(consentTransactionId !== undefined && { consentTransactionId }),
      amount,
      currency,
      interval: { every: 1, unit: 'month' },
      anchor: consented.slice(0, 10),
      billAt: consented.slice(11, 16),
      timeZone: 'Etc/UTC',
      jitter: '0 seconds',
      // The consent may have been given yesterday.
      missedPeriods: 'billLatest',
    },
    WAIT,
  );
  const said = sayStatus(outcome.status, outcome.status === 'active' ? 'period' : null);
  return doneBy(subscriptionWorkflowId(reference), outcome, said);
}

function doneBy(workflowId: string, outcome: { status: string }, said: Said): Done {
  return { workflowId, status: outcome.status, said, isKnown: isKnown(outcome) };
}
