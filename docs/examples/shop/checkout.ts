import type { HoldfastClient } from 'holdfast/client';

export interface Order {
  id: string;
  total: number;
  /** From 1. Kept with the order. */
  attempt: number;
}

/** Of a service that wants to be paid: what it tells the buyer. It never pays twice for one order. */
export async function checkout(holdfast: Pick<HoldfastClient, 'charge'>, order: Order, token: string): Promise<string> {
  const { attempt } = order;
  const paid = await holdfast.charge({
    reference: `${order.id}-${attempt}`, // another card has another token, which a used reference refuses
    amount: order.total, // minor units
    currency: 'EUR',
    paymentMethod: { type: 'tokenized', token },
  });
  if (paid.status === 'succeeded') return 'Thank you!';
  const isNothingTaken = paid.status === 'declined' ? paid.confirmed : ['notExecuted', 'voided'].includes(paid.status);
  // A decline that nobody has confirmed may have taken it: ask with the same reference, never with a new one.
  if (!isNothingTaken) return 'We do not know yet, and will tell you by mail.';
  order.attempt = attempt + 1; // not `+= 1`: the answer to this attempt may come twice
  if (paid.status !== 'declined') return 'Nothing was taken: please try again.';
  if (paid.retryable === 'nobody') return 'Nothing was taken, and another card would not help: please write to us.';
  return 'Your card was declined: try another one.';
}
