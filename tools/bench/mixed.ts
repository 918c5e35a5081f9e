/**
 * Measures the sandbox under a mix of requests at a fixed rate that does not depend on its answers: `--rate` requests
 * per second (500) for `--seconds` (20), then its memory with `--payments` (10,000) payments. The load comes from a
 * separate process.
 */
import { randomUUID } from 'node:crypto';
import { Pool } from 'undici';
import { type Call, CARD_BODY, callerOf, measureSandbox } from './support/sandbox-load.js';
import { numbersOf, type Percentiles, percentilesOf, runAtRate, runJobs } from './support/stats.js';

interface Measured extends Percentiles {
  requests: number;
  perSecond: number;
}

/** Requests per flow. Half of them write. */
const STEPS = 10;

const { rate, seconds, payments } = numbersOf({ rate: 500, seconds: 20, payments: 10_000 });

/** A customer pays and gets a partial refund, with reads in between. */
async function flow(call: Call): Promise<void> {
  const { token } = await call('POST', '/tokens', CARD_BODY);
  const customer = await call('POST', '/customers', { customer_reference: randomUUID(), email: 'ada@example.com' });
  const { id } = await call('POST', '/payments', { amount: 9_900, currency: 'USD', customer_id: customer.id });
  const at = `/payments/${id}`;
  const hold = await call('POST', `${at}/authorizations`, { payment_method: { type: 'tokenized', token } });
  await call('GET', `${at}/authorizations/${hold.id}`);
  const capture = await call('POST', `${at}/captures`, { amount: 9_900 });
  await call('GET', `${at}?expand=authorizations&expand=captures`);
  await call('POST', `${at}/refunds`, { amount: 5_000, capture_id: capture.id });
  await call('GET', `${at}/refunds`);
  await call('GET', `/customers/${customer.id}`);
}

async function generate(url: string): Promise<Measured> {
  const pool = new Pool(url, { connections: 64 });
  const took: number[] = [];
  const send = callerOf(pool);
  const call: Call = async (...request) => {
    const sent = performance.now();
    const made = await send(...request);
    took.push(performance.now() - sent);
    return made;
  };
  await runJobs(100, 16, async () => await flow(call));
  took.length = 0;

  const flows = Math.round((rate * seconds) / STEPS);
  const begun = performance.now();
  await runAtRate(
    rate / STEPS,
    (index) => index < flows,
    async () => await flow(call),
  );
  const requests = took.length;
  const perSecond = requests / ((performance.now() - begun) / 1_000);
  const measured = { requests, perSecond, ...percentilesOf(took) };
  await runJobs(Math.max(0, payments - flows - 100), 32, async () => await flow(call));
  await pool.close();
  return measured;
}

await measureSandbox(import.meta.url, generate, ({ requests, perSecond, p50, p99 }) =>
  console.log(
    `${requests} mixed requests at ${perSecond.toFixed(0)} per second: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
  ),
);
