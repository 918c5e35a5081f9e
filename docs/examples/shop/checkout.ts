import type { HoldfastClient } from 'holdfast/client';

/** Of a service that wants to be paid: what it tells the buyer. It never pays twice for one order. */
export async function checkout(
  holdfast: Pick<HoldfastClient, 'charge'>,
  order: { id: string; total: number },
  token: string,
): Promise<string> {
  const paid = await holdfast.charge({
    reference: order.id,
    amount: order.total, // minor units
    currency: 'EUR',
    paymentMethod: { type: 'tokenized', token },
  });
  if (paid.status === 'succeeded') return 'Thank you!';
  if (paid.status === 'declined') return 'Your card was declined: try another one.';
  if (paid.status === 'notExecuted' || paid.status === 'voided') return 'Nothing was taken: please order again.';
  // Asked again with the same reference, never with a new one.
  return 'We do not know yet, and will tell you by mail.';
}
