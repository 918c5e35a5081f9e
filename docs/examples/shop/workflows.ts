import { proxyActivities } from '@temporalio/workflow';
import { executeFlow } from 'holdfast/workflows';

const { ship } = proxyActivities<{ ship(orderId: string): Promise<string> }>({ startToCloseTimeout: '1 minute' });

/** A workflow of the shop, which pays by a flow of Holdfast. */
export async function order(id: string, total: number, token: string): Promise<string> {
  const paid = await executeFlow('charge', {
    reference: id,
    amount: total,
    currency: 'EUR',
    paymentMethod: { type: 'tokenized', token },
  });
  if (paid.status === 'succeeded') return await ship(id);
  // A decline that nobody has confirmed may have taken it: neither ship it nor have it paid again.
  if (paid.status === 'declined' && !paid.confirmed) return 'not known: a person has to look';
  return `not paid: ${paid.status}`;
}
