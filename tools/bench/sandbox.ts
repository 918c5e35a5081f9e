/**
 * Measures the charge requests per second that the sandbox serves. The load generator is a separate process.
 * Arguments: `--charges <n>` (default 5000), `--concurrency <n>` (default 32), `--webhooks` (with a receiver).
 */
import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import { Pool } from 'undici';
import { listenLocally } from '../stack/ports.js';
import { CARD_BODY, callerOf, measureSandbox } from './support/sandbox-load.js';
import { type Percentiles, percentilesOf, runJobs } from './support/stats.js';

interface Summary extends Percentiles {
  perSecond: number;
}

const { values } = parseArgs({
  options: {
    charges: { type: 'string', default: '5000' },
    concurrency: { type: 'string', default: '32' },
    webhooks: { type: 'boolean', default: false },
  },
});
const [charges, concurrency] = [Number(values.charges), Number(values.concurrency)];

function print(what: string, { perSecond, p50, p99 }: Summary): void {
  console.log(`${what}: ${perSecond.toFixed(0)} per second, p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
}

async function startReceiver(): Promise<{ url: string; count: () => number; close: () => void }> {
  let count = 0;
  const server = createServer((request, response) => {
    count++;
    request.resume().on('end', () => response.end());
  });
  return { url: `${await listenLocally(server)}/`, count: () => count, close: () => server.close() };
}

/** Prepares what the charges need first, so that the first figure is of charges alone. */
async function generate(url: string): Promise<{ charges: Summary; whole: Summary }> {
  const pool = new Pool(url, { connections: concurrency });
  const call = callerOf(pool);
  const prepare = async () => {
    const [{ token }, { id }] = await Promise.all([
      call('POST', '/tokens', CARD_BODY),
      call('POST', '/payments', { amount: 1095, currency: 'USD' }),
    ]);
    const body = { payment_method: { type: 'tokenized', token }, reconciliation_id: id };
    return () => call('POST', `/payments/${id}/charges`, body);
  };
  const measure = async (count: number, run: () => Promise<unknown>): Promise<Summary> => {
    const begun = performance.now();
    const took = await runJobs(count, concurrency, async () => void (await run()));
    return { perSecond: (count * 1_000) / (performance.now() - begun), ...percentilesOf(took) };
  };
  const ready: (() => Promise<unknown>)[] = [];
  await measure(charges, async () => ready.push(await prepare()));
  const alone = await measure(charges, async () => ready.pop()?.());
  const whole = await measure(Math.ceil(charges / 3), async () => (await prepare())());
  await pool.close();
  return { charges: alone, whole };
}

const receiver = values.webhooks && process.send === undefined ? await startReceiver() : undefined;
await measureSandbox(
  import.meta.url,
  generate,
  (measured) => {
    print('POST charges', measured.charges);
    print('token + payment + charge, as flows', measured.whole);
  },
  receiver?.url,
);
if (receiver !== undefined) console.log(`webhooks received so far: ${receiver.count()}`);
receiver?.close();
