import { DEFAULT_UNIT } from '../../../../sandbox/control.js';
import { headersOf } from '../../../stack/profile-units.js';

/** Input of the baseline: only what its two calls need. */
export interface NaiveCharge {
  reference: string;
  amount: number;
  currency: string;
  token: string;
}

export type NaiveActivities = ReturnType<typeof createNaiveActivities>;

/** Uses plain fetch, as a first implementation would. */
export function createNaiveActivities(baseUrl: string) {
  const post = async (path: string, key: string, body: object): Promise<{ id: string }> => {
    const headers = { ...headersOf(DEFAULT_UNIT), 'idempotency-key': key };
    const answer = await fetch(`${baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
    return (await answer.json()) as { id: string };
  };
  return {
    async createPayment({ reference, amount, currency }: NaiveCharge): Promise<string> {
      return (await post('/payments', `${reference}-payment`, { amount, currency })).id;
    },
    async createCharge({ reference, token }: NaiveCharge, paymentId: string): Promise<string> {
      const body = { payment_method: { type: 'tokenized', token }, reconciliation_id: reference };
      return (await post(`/payments/${paymentId}/charges`, `${reference}-charge`, body)).id;
    },
  };
}
