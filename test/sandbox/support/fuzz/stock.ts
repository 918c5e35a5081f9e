import { PENDING_THEN_SUCCEED, type TestSandbox, type WireBody } from '../sandbox.js';
import { Pool } from './pool.js';

/** A customer that is there from the start. */
export const KNOWN_REFERENCE = 'customer-1';

/** What is there before the first request: without it, most would only meet 404s. */
export async function stockedPool({ api, control }: TestSandbox): Promise<Pool> {
  const pool = new Pool();
  const post = async (path: string, body?: object): Promise<WireBody> => {
    const made = await api.call('POST', path, body);
    if (made.status !== 201) throw new Error(`${path}: ${made.status} ${made.text}`);
    pool.learn(path, made);
    return made.body;
  };
  const card = async (number?: string) => {
    const { token } = await control.tokenize(number ?? '4111111111111111');
    pool.add('token', token);
    return token;
  };
  const method = async (number?: string) => ({ payment_method: { type: 'tokenized', token: await card(number) } });

  await post('/sandbox/webhook-endpoints', { url: 'http://127.0.0.1:9/', app_id: 'holdfast-sandbox' });
  for (let turn = 0; turn < 9; turn++) {
    const { id: customer } = await post('/customers', { customer_reference: `customer-${turn}` });
    await post(`/customers/${customer}/payment-methods/${await card()}`);
    for (let spare = 0; spare < 3; spare++) {
      await post('/payments', { amount: 6_000, currency: 'USD' });
      await card();
    }
    await authorized(turn);
    await pending();
    await underReview();
    await credited();
  }
  await onlyHarmlessFault(control, pool);
  for (const { id } of await control.deliveries()) pool.add('deliveries', id);
  return pool;

  async function authorized(turn: number): Promise<void> {
    const path = `/payments/${(await post('/payments', { amount: 6_000, currency: 'EUR' })).id}`;
    await post(`${path}/authorizations`, await method());
    if (turn === 6) await post(`${path}/voids`);
    // Taken money can be disputed.
    if (turn > 6) pool.add('transactions', (await post(`${path}/captures`)).id);
    if (turn > 7) await post(`${path}/refunds`);
  }

  async function credited(): Promise<void> {
    const { id: payment } = await post('/payments', { amount: 100, currency: 'USD' });
    await post(`/payments/${payment}/credits`, await method());
  }

  async function pending(): Promise<void> {
    const { id: payment } = await post('/payments', { amount: 100, currency: 'USD' });
    const site = { merchant_site_url: 'https://shop.example/' };
    const charge = await post(`/payments/${payment}/charges`, { ...(await method(PENDING_THEN_SUCCEED)), ...site });
    pool.add('transactions', charge.id);
    pool.add('redirections', charge.id, payment);
    pool.add('payments/redirections', (charge['redirection'] as { id: string }).id, payment);
  }

  async function underReview(): Promise<void> {
    const billing_address = { email: 'manual-review-hub@email.com' };
    const { id: payment } = await post('/payments', { amount: 100, currency: 'USD', billing_address });
    pool.add('risk-analyses', (await post(`/payments/${payment}/risk-analyses`)).id);
  }
}

/** One that is there and does nothing. A planted one would ask for the very answers that are not to be seen. */
export async function onlyHarmlessFault(control: TestSandbox['control'], pool: Pool): Promise<void> {
  await control.clearFaults();
  pool.only('faults', (await control.addFault({ action: 'delay', delay_ms: 0, path: '/nowhere' })).id);
}
