/**
 * Shows what a deploy costs: `--restarts` (4) times a worker is started and the oldest of two gets SIGTERM, under
 * `--callers` (16) and while each call of the service takes `--ms` (2000). Prints what the callers were answered, which requests
 * were cut off, and which keys were sent more than once.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { SandboxControl } from '../../sandbox/control.js';
import { HoldfastClient } from '../../src/client/holdfast-client.js';
import { createDataConverter } from '../../src/security/data-converter.js';
import { parseKeyRing } from '../../src/security/key-ring.js';
import { businessUnitsSetting, PLAIN_UNIT } from '../stack/profile-units.js';
import { startBenchStack } from './support/bench-stack.js';
import { startFront } from './support/front.js';
import { percentile, table } from './support/stats.js';

const NAMESPACE = 'rolling-restart';
const CARD = '4111111111111111';
/** ms under load before, between and after the restarts. */
const BETWEEN_MS = 10_000;

const { values } = parseArgs({
  options: {
    restarts: { type: 'string', default: '4' },
    callers: { type: 'string', default: '16' },
    ms: { type: 'string', default: '2000' },
  },
});
const [restarts, callers, delayMs] = [Number(values.restarts), Number(values.callers), Number(values.ms)];

const keys = `bench:${randomBytes(32).toString('base64')}`;
const stack = await startBenchStack({ namespaces: [NAMESPACE], keys });
const sent = new Map<string, number>();
let cutOff = 0;
const service = await startFront(stack.sandboxUrl, async ({ method, headers }, response, pass) => {
  const key = headers['idempotency-key'];
  if (method === 'POST' && typeof key === 'string') sent.set(key, (sent.get(key) ?? 0) + 1);
  response.once('close', () => (cutOff += response.writableFinished ? 0 : 1));
  await sleep(delayMs);
  await pass();
});
const sandbox = new SandboxControl(stack.sandboxUrl);
const startWorker = () =>
  stack.start('workers/worker.js', NAMESPACE, {
    env: { HOLDFAST_API_BASE_URL: service.url, HOLDFAST_BUSINESS_UNITS: businessUnitsSetting([PLAIN_UNIT]) },
  });
const workers = [await startWorker(), await startWorker()];
const connection = await Connection.connect({ address: stack.address });
const dataConverter = createDataConverter(parseKeyRing(keys));
const holdfast = new HoldfastClient(new Client({ connection, namespace: NAMESPACE, dataConverter }));

interface CallerAnswer {
  status: string;
  ms: number;
  isQuiet: boolean;
}

try {
  const answers: CallerAnswer[] = [];
  let isQuiet = true;
  let goesOn = true;
  const lanes = Array.from({ length: callers }, async (_, lane) => {
    for (let n = 0; goesOn; n += 1) {
      const { token } = await sandbox.tokenize(CARD);
      const paymentMethod = { type: 'tokenized', token } as const;
      const begun = performance.now();
      const wasQuiet = isQuiet;
      const input = { reference: `lane-${lane}-${n}`, amount: 6_000, currency: 'USD', paymentMethod };
      const { status } = await holdfast.charge(input, { waitFor: '30 seconds' });
      answers.push({ status, ms: performance.now() - begun, isQuiet: wasQuiet && isQuiet });
    }
  });
  await sleep(2 * BETWEEN_MS);
  isQuiet = false;
  const stops: { ms: number; code: number | null }[] = [];
  for (let restart = 0; restart < restarts; restart += 1) {
    workers.push(await startWorker());
    const begun = performance.now();
    const code = (await workers.shift()?.stop()) ?? null;
    stops.push({ ms: performance.now() - begun, code });
    await sleep(BETWEEN_MS);
  }
  goesOn = false;
  await Promise.all(lanes);
  report(answers, stops);
} finally {
  await connection.close();
  service.close();
  await stack.stop();
}

function report(answers: readonly CallerAnswer[], stops: readonly { ms: number; code: number | null }[]): void {
  const rows = [['', 'charges', 'succeeded', 'unknown', 'other', 'p50 ms', 'p99 ms']];
  for (const [name, of] of [
    ['before', answers.filter(({ isQuiet }) => isQuiet)],
    [`${restarts} restarts`, answers.filter(({ isQuiet }) => !isQuiet)],
  ] as const) {
    const count = (...statuses: string[]) => of.filter(({ status }) => statuses.includes(status)).length;
    const others = of.length - count('succeeded', 'unknown');
    const took = of.map(({ ms }) => ms);
    const cells = [of.length, count('succeeded'), count('unknown'), others].map(String);
    rows.push([name, ...cells, percentile(took, 50).toFixed(0), percentile(took, 99).toFixed(0)]);
  }
  const twice = [...sent.values()].filter((times) => times > 1).length;
  console.log(`Each call takes ${delayMs} ms; ${callers} callers, two workers.\n`);
  console.log(table(rows));
  console.log(`\nRequests cut off: ${cutOff}. Keys sent more than once: ${twice} of ${sent.size}.`);
  const longest = Math.max(...stops.map(({ ms }) => ms));
  console.log(
    `Longest stop: ${(longest / 1_000).toFixed(1)} s; exit codes ${stops.map(({ code }) => code).join(', ')}.`,
  );
}
