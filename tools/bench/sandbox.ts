/**
 * Measures the charge requests per second that the sandbox serves. The load generator is a separate process.
 * Arguments: `--charges <n>` (default 5000), `--concurrency <n>` (default 32), `--webhooks` (with a receiver).
 */
import { fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { SandboxControl } from '../../sandbox/control.js';
import { startSandbox } from '../../sandbox/server.js';

interface Load {
  url: string;
  charges: number;
  concurrency: number;
}

interface Measured {
  charges: Summary;
  whole: Summary;
}

interface Summary {
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
const BROWSER = { ...MERCHANT, 'public-key': 'sandbox-public-key' };
const CARD = { token_type: 'credit_card', holder_name: 'Ada', card_number: '4111111111111111' };

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      charges: { type: 'string', default: '5000' },
      concurrency: { type: 'string', default: '32' },
      webhooks: { type: 'boolean', default: false },
    },
  });
  const stateDir = mkdtempSync(join(tmpdir(), 'sandbox-bench-'));
  const receiver = values.webhooks ? await startReceiver() : undefined;
  const sandbox = await startSandbox({ stateDir, ...(receiver && { webhookUrl: receiver.url }) });
  try {
    const load = { url: sandbox.url, charges: Number(values.charges), concurrency: Number(values.concurrency) };
    const measured = await inChild(load);
    const { payments, transactions } = await new SandboxControl(sandbox.url).health();
    print('POST charges', measured.charges);
    print('token + payment + charge, as flows', measured.whole);
    const megabytes = Math.round(process.memoryUsage().rss / 1_048_576);
    console.log(`memory with ${payments} payments and ${transactions} transactions: ${megabytes} MB`);
    if (receiver !== undefined) console.log(`webhooks received so far: ${receiver.count()}`);
  } finally {
    await sandbox.close();
    receiver?.close();
    rmSync(stateDir, { recursive: true, force: true });
  }
}

function print(what: string, { perSecond, p50, p99 }: Summary): void {
  console.log(`${what}: ${perSecond.toFixed(0)} per second, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
}

function inChild(load: Load): Promise<Measured> {
  const child = fork(fileURLToPath(import.meta.url));
  return new Promise((resolve, reject) => {
    child.once('message', (measured) => resolve(measured as Measured));
    child.once('exit', (code) => reject(new Error(`the load generator ended with ${code}`)));
    child.send(load);
  });
}

async function startReceiver(): Promise<{ url: string; count: () => number; close: () => void }> {
  let count = 0;
  const server = createServer((request, response) => {
    count++;
    request.resume().on('end', () => response.end());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/`, count: () => count, close: () => server.close() };
}

/** Runs in the child process. Prepares what the charges need first, so that the first figure is of charges alone. */
async function generate({ url, charges, concurrency }: Load): Promise<Measured> {
  const pool = new Pool(url, { connections: concurrency });
  const post = async (path: string, body: object, headers: Record<string, string> = MERCHANT) => {
    const keyed = { ...headers, 'idempotency-key': randomUUID() };
    const answer = await pool.request({ method: 'POST', path, headers: keyed, body: JSON.stringify(body) });
    const made = (await answer.body.json()) as { id: string; token: string; result?: { status: string } };
    if (answer.statusCode !== 201) throw new Error(`${path} answered ${answer.statusCode} ${JSON.stringify(made)}`);
    return made;
  };
  const prepare = async () => {
    const [{ token }, payment] = await Promise.all([
      post('/tokens', CARD, BROWSER),
      post('/payments', { amount: 1095, currency: 'USD' }),
    ]);
    return () =>
      post(`/payments/${payment.id}/charges`, {
        payment_method: { type: 'tokenized', token },
        reconciliation_id: payment.id,
      });
  };
  const ready: (() => Promise<unknown>)[] = [];
  await measure(charges, concurrency, async () => void ready.push(await prepare()));
  const measured = await measure(charges, concurrency, async () => ready.pop()?.());
  const whole = await measure(Math.ceil(charges / 3), concurrency, async () => (await prepare())());
  await pool.close();
  return { charges: measured, whole };
}

async function measure(count: number, concurrency: number, run: () => Promise<unknown>): Promise<Summary> {
  const times: number[] = [];
  let left = count;
  const begin = performance.now();
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      const started = performance.now();
      await run();
      times.push(performance.now() - started);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const seconds = (performance.now() - begin) / 1_000;
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0;
  return { perSecond: count / seconds, p50: at(0.5), p99: at(0.99) };
}

if (process.send === undefined) {
  await main();
} else {
  process.once('message', (load) => {
    void generate(load as Load).then((measured) => process.send?.(measured, () => process.exit(0)));
  });
}
