/**
 * Measures the sandbox under a mix of requests at a fixed rate that does not depend on its answers: `--rate` requests
 * per second (500) for `--seconds` (20), then its memory with `--payments` (10,000) payments. The load comes from a
 * separate process.
 */
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { SandboxControl } from '../../sandbox/control.js';
import { startSandbox } from '../../sandbox/server.js';
import { numbersOf, percentile, runJobs } from './support/stats.js';

interface Load {
  url: string;
  rate: number;
  seconds: number;
  payments: number;
}
interface Measured {
  requests: number;
  perSecond: number;
  p50: number;
  p99: number;
}

const MERCHANT = {
  'content-type': 'application/json',
  'api-version': '1.3.0',
  'x-svc-env': 'test',
  'app-id': 'holdfast-sandbox',
  'private-key': 'sandbox-private-key',
};
const CARD = { token_type: 'credit_card', holder_name: 'Ada', card_number: '4111111111111111' };
/** Requests per flow. Half of them write. */
const STEPS = 10;

type Call = (method: 'GET' | 'POST', path: string, body?: object) => Promise<{ id: string; token: string }>;

/** A customer pays and gets a partial refund, with reads in between. */
async function flow(call: Call): Promise<void> {
  const { token } = await call('POST', '/tokens', CARD);
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

async function generate({ url, rate, seconds, payments }: Load): Promise<Measured> {
  const pool = new Pool(url, { connections: 64 });
  const took: number[] = [];
  const call: Call = async (method, path, body) => {
    const headers = {
      ...MERCHANT,
      ...(path === '/tokens' && { 'public-key': 'sandbox-public-key' }),
      ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
    };
    const sent = performance.now();
    const answer = await pool.request({
      method,
      path,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
    });
    const json = (await answer.body.json()) as { id: string; token: string };
    took.push(performance.now() - sent);
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${JSON.stringify(json)}`);
    return json;
  };
  await runJobs(100, 16, async () => await flow(call));
  took.length = 0;

  const flows = Math.round((rate * seconds) / STEPS);
  const begun = performance.now();
  const running: Promise<void>[] = [];
  for (let n = 0; n < flows; n += 1) {
    const due = begun + (n * 1_000 * STEPS) / rate;
    const early = due - performance.now();
    if (early > 0) await sleep(early);
    running.push(flow(call));
  }
  await Promise.all(running);
  const requests = took.length;
  const perSecond = requests / ((performance.now() - begun) / 1_000);
  const measured = { requests, perSecond, p50: percentile(took, 50), p99: percentile(took, 99) };
  await runJobs(Math.max(0, payments - flows - 100), 32, async () => await flow(call));
  await pool.close();
  return measured;
}

async function main(): Promise<void> {
  const options = numbersOf({ rate: 500, seconds: 20, payments: 10_000 });
  const stateDir = mkdtempSync(join(tmpdir(), 'sandbox-bench-'));
  const sandbox = await startSandbox({ stateDir });
  try {
    const child = fork(fileURLToPath(import.meta.url));
    const measured = await new Promise<Measured>((resolve, reject) => {
      child.once('message', (message) => resolve(message as Measured));
      child.once('exit', (code) => reject(new Error(`the load generator ended with ${code}`)));
      child.send({ url: sandbox.url, ...options } satisfies Load);
    });
    const { requests, perSecond, p50, p99 } = measured;
    const { payments, transactions } = await new SandboxControl(sandbox.url).health();
    console.log(
      `${requests} mixed requests at ${perSecond.toFixed(0)} per second: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
    );
    const megabytes = Math.round(process.memoryUsage().rss / 1_048_576);
    console.log(`memory with ${payments} payments and ${transactions} transactions: ${megabytes} MB`);
  } finally {
    await sandbox.close();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

if (process.send === undefined) {
  await main();
} else {
  process.once('message', (load) => {
    void generate(load as Load).then((measured) => process.send?.(measured, () => process.exit(0)));
  });
}
