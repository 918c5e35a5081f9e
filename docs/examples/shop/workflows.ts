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
  return paid.status === 'succeeded' ? await ship(id) : `not paid: ${paid.status}`;
}
