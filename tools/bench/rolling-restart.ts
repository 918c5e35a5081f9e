/**
 * Shows what a deploy costs: `--restarts` (4) times a worker is started and the oldest of two gets SIGTERM, under
 * `--callers` (16) and while each call of the service takes `--ms` (2000). Prints what the callers were answered, which requests
 * were cut off, and which keys were sent more than once.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startBenchStack } from './support/bench-stack.js';
import { CARD, chargeInput } from './support/payments.js';
import { numbersOf, percentile, table } from './support/stats.js';

/** ms under load before, between and after the restarts. */
const BETWEEN_MS = 10_000;

const { restarts, callers, ms: delayMs } = numbersOf({ restarts: 4, callers: 16, ms: 2_000 });
const stack = await startBenchStack(['rolling-restart']);
const sent = new Map<string, number>();
let cutOff = 0;
const url = await stack.front(async ({ method, headers }, response, pass) => {
  const key = headers['idempotency-key'];
  if (method === 'POST' && typeof key === 'string') sent.set(key, (sent.get(key) ?? 0) + 1);
  response.once('close', () => (cutOff += response.writableFinished ? 0 : 1));
  await sleep(delayMs);
  await pass();
});
const startWorker = () => stack.start('workers/worker.js', { env: { HOLDFAST_API_BASE_URL: url } });
const workers = [await startWorker(), await startWorker()];
const { holdfast } = await stack.connect();

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
      const { token } = await stack.sandbox.tokenize(CARD);
      const begun = performance.now();
      const wasQuiet = isQuiet;
      const { status } = await holdfast.charge(chargeInput(`lane-${lane}-${n}`, token), { waitFor: '30 seconds' });
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
