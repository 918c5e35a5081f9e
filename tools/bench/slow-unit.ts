/**
 * Measures what one business unit's slow service costs another unit on the same worker: charges, and refunds of them,
 * at concurrency 4, alone and beside callers of a unit whose service takes `--ms` (10000) for each call. By turns, on
 * one stack; medians of the rounds. `--rounds` (5), `--charges` per leg (100), `--callers` (`128,400`).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { addUnits, businessUnitsSetting, PLAIN_UNIT, type ProfileUnit } from '../stack/profile-units.js';
import { startBenchStack } from './support/bench-stack.js';
import { CARD, chargeInput, pay, tokensFor, WAIT } from './support/payments.js';
import { median, percentile, runJobs, table } from './support/stats.js';

const SLOW_UNIT: ProfileUnit = {
  ...PLAIN_UNIT,
  name: 'slow',
  appId: 'holdfast-bench-slow',
  privateKey: 'bench-slow-private-key',
  publicKey: 'bench-slow-public-key',
};
const CONCURRENCY = 4;
/** Callers of the slow unit begin one after the other within this, and their first calls have ended after the second. */
const BEGINNING_MS = 10_000;
const SETTLE_MS = 25_000;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    charges: { type: 'string', default: '100' },
    callers: { type: 'string', default: '128,400' },
    ms: { type: 'string', default: '10000' },
  },
});
const [rounds, charges, delayMs] = [Number(values.rounds), Number(values.charges), Number(values.ms)];
const beside = [0, ...values.callers.split(',').map(Number)];
const stack = await startBenchStack(['slow-unit']);
const { sandbox } = stack;
/** Calls of the slow unit that the service had at once. */
const slowCalls = { now: 0, most: 0 };
const url = await stack.front(async ({ headers }, _response, pass) => {
  const isSlow = headers['app-id'] === SLOW_UNIT.appId;
  slowCalls.now += isSlow ? 1 : 0;
  slowCalls.most = Math.max(slowCalls.most, slowCalls.now);
  try {
    await sleep(isSlow ? delayMs : 0);
    await pass();
  } finally {
    slowCalls.now -= isSlow ? 1 : 0;
  }
});
await addUnits(sandbox, [SLOW_UNIT], undefined);
await stack.start('workers/worker.js', {
  env: { HOLDFAST_API_BASE_URL: url, HOLDFAST_BUSINESS_UNITS: businessUnitsSetting([PLAIN_UNIT, SLOW_UNIT]) },
});
const { holdfast } = await stack.connect();

interface Leg {
  charges: number[];
  refunds: number[];
  mostSlowCalls: number;
}

try {
  await leg('warm', 20);
  const legs = new Map<number, Leg[]>(beside.map((callers) => [callers, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const callers of beside) {
      const label = `${round}-beside-${callers}`;
      const stop = callUntilStopped(callers, label);
      if (callers > 0) await sleep(SETTLE_MS);
      slowCalls.most = 0;
      legs.get(callers)?.push({ ...(await leg(label, charges)), mostSlowCalls: slowCalls.most });
      await stop();
    }
  }
  report(legs);
} finally {
  await stack.stop();
}

async function leg(label: string, count: number): Promise<Pick<Leg, 'charges' | 'refunds'>> {
  const tokens = await tokensFor(sandbox, count);
  const nameOf = (index: number): string => `quick-${label}-${index}`;
  const charged = await runJobs(count, CONCURRENCY, (index) => pay(holdfast, nameOf(index), tokens[index]));
  const refunded = await runJobs(count, CONCURRENCY, async (index) => {
    const reference = nameOf(index);
    const { status, ...rest } = await holdfast.refund({ payment: reference, commandId: 'all' }, WAIT);
    if (status !== 'succeeded') throw new Error(`refund of ${reference}: ${status} ${JSON.stringify(rest)}`);
  });
  return { charges: charged, refunds: refunded };
}

/** So many charges of the slow unit are under way until the returned function is called, which waits for their answers. */
function callUntilStopped(callers: number, label: string): () => Promise<void> {
  let goesOn = true;
  const lanes = Array.from({ length: callers }, async (_, lane) => {
    await sleep((lane * BEGINNING_MS) / callers);
    for (let n = 0; goesOn; n += 1) {
      const { token } = await sandbox.tokenize({ cardNumber: CARD, publicKey: SLOW_UNIT.publicKey });
      const input = { ...chargeInput(`slow-${label}-${lane}-${n}`, token), businessUnit: SLOW_UNIT.name };
      let { status } = await holdfast.charge(input, WAIT);
      while (status === 'unknown') ({ status } = await holdfast.charge(input, WAIT));
      if (status !== 'succeeded') throw new Error(`${input.reference}: ${status}`);
    }
  });
  return async () => {
    goesOn = false;
    await Promise.all(lanes);
  };
}

function report(legs: ReadonlyMap<number, readonly Leg[]>): void {
  const rows = [['beside', 'charge p50 ms', 'p99 ms', 'x', 'refund p50 ms', 'p99 ms', 'x', 'slow calls at once']];
  const middle = (of: readonly Leg[], name: 'charges' | 'refunds', p: number): number =>
    median(of.map((one) => percentile(one[name], p)));
  const alone = legs.get(0) ?? [];
  for (const [callers, of] of legs) {
    const cells = (['charges', 'refunds'] as const).flatMap((name) => [
      middle(of, name, 50).toFixed(0),
      middle(of, name, 99).toFixed(0),
      (middle(of, name, 99) / middle(alone, name, 99)).toFixed(2),
    ]);
    rows.push([`${callers} callers`, ...cells, String(Math.max(...of.map(({ mostSlowCalls }) => mostSlowCalls)))]);
  }
  console.log(
    `Medians of ${rounds} rounds, ${charges} charges and refunds each at concurrency ${CONCURRENCY}; a call of`,
  );
  console.log(`the other unit takes ${delayMs} ms. x: of the p99 beside 0 callers.\n`);
  console.log(table(rows));
}
