/**
 * Shows what a service gets after an outage in which buyers have waited: `--flows` (1000; `--full`: 10000) charges and
 * `--refunds` (50) wait while it answers 503, and its unit is set to `--per-second` (50) calls. Prints the busiest
 * second and, by class, when its calls left.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { DEFAULT_UNIT } from '../../sandbox/control.js';
import { movements } from '../audit/ledger.js';
import { startBenchStack } from './support/bench-stack.js';
import { chargeInput, tokensFor } from './support/payments.js';
import { percentile, runJobs, table } from './support/stats.js';

/** Callers at a time: each waits a second for an answer that does not come. */
const CALLERS = 200;
const WAIT = { waitFor: '1 second' } as const;

const { values } = parseArgs({
  options: {
    flows: { type: 'string', default: '1000' },
    refunds: { type: 'string', default: '50' },
    'per-second': { type: 'string', default: '50' },
    full: { type: 'boolean', default: false },
  },
});
const flows = values.full ? 10_000 : Number(values.flows);
const [refunds, perSecond] = [Number(values.refunds), Number(values['per-second'])];

interface Passed {
  at: number;
  kind: "buyers' POSTs" | 'refunds' | 'reads';
}

const stack = await startBenchStack(['outage']);
const { sandbox } = stack;
/** Commands that Temporal did not take in time. */
let refusals = 0;
const passed: Passed[] = [];
let isDown = false;
const url = await stack.front(async ({ method, url: path }, response, pass) => {
  if (isDown) return void response.writeHead(503).end();
  const kind = method === 'GET' ? 'reads' : path?.endsWith('/refunds') ? 'refunds' : "buyers' POSTs";
  passed.push({ at: Date.now(), kind });
  await pass();
});
await stack.start('workers/worker.js', {
  env: {
    HOLDFAST_API_BASE_URL: url,
    // Calls that are held back would be logged one by one.
    HOLDFAST_LOG_LEVEL: 'error',
    HOLDFAST_BUSINESS_UNITS: JSON.stringify({ default: { ...DEFAULT_UNIT, callsPerSecond: perSecond } }),
  },
});
const { holdfast } = await stack.connect();

try {
  await charge('paid', refunds, '1 minute');
  isDown = true;
  await charge('waits', flows, WAIT.waitFor);
  await runJobs(refunds, CALLERS, async (index) => {
    const command = { payment: `paid-${index}`, commandId: 'all' };
    for (let isGiven = false; !isGiven;) {
      // While the machine is busy with what waits Temporal may not take it in time: it is given again, as such a failure asks.
      isGiven = await holdfast.refund(command, WAIT).then(
        () => true,
        () => false,
      );
      refusals += isGiven ? 0 : 1;
    }
  });
  // The last ones have begun to wait as well.
  await sleep(10_000);
  passed.length = 0;
  isDown = false;
  const since = Date.now();
  // Before that the ledger tells nothing, and to read it whole holds up the sandbox and this process, which counts.
  const posts = (): number => passed.filter(({ kind }) => kind !== 'reads').length;
  while (posts() < refunds + flows * 2) await sleep(1_000);
  while (movements(await sandbox.ledger()).length < refunds * 2 + flows) await sleep(10_000);
  report(since);
} finally {
  await stack.stop();
}

async function charge(label: string, count: number, waitFor: `${number} ${'second' | 'minute'}`): Promise<void> {
  const tokens = await tokensFor(sandbox, count);
  await runJobs(count, CALLERS, async (index) => {
    await holdfast.charge(chargeInput(`${label}-${index}`, tokens[index]), { waitFor });
  });
}

function report(since: number): void {
  const perSecondFrom = passed.map(({ at }, first) => {
    let end = first;
    while ((passed[end]?.at ?? Number.POSITIVE_INFINITY) < at + 1_000) end += 1;
    return end - first;
  });
  const last = Math.max(...passed.map(({ at }) => at));
  if (refusals > 0) console.log(`Refunds that had to be given again: ${refusals}.`);
  console.log(`${flows} charges and ${refunds} refunds waited; ${perSecond} calls per second are allowed.`);
  console.log(
    `Busiest second: ${Math.max(...perSecondFrom)} calls. On average: ${rate(passed.length, last - since)}.\n`,
  );
  const rows = [['calls', 'count', 'half of them after', '95 of 100 after', 'the last after']];
  for (const kind of ["buyers' POSTs", 'refunds', 'reads'] as const) {
    const times = passed.filter((one) => one.kind === kind).map(({ at }) => at - since);
    if (times.length === 0) continue;
    const seconds = [percentile(times, 50), percentile(times, 95), Math.max(...times)];
    rows.push([kind, String(times.length), ...seconds.map((ms) => `${(ms / 1_000).toFixed(0)} s`)]);
  }
  console.log(table(rows));
}

function rate(count: number, ms: number): string {
  return `${((count * 1_000) / ms).toFixed(1)} per second`;
}
