/**
 * Measures what one business unit's slow service costs another unit on the same worker: charges, and refunds of them,
 * at concurrency 4, alone and beside callers of a unit whose service takes `--ms` (10000) for each call. By turns, on
 * one stack; medians of the rounds. `--rounds` (5), `--charges` per leg (100), `--callers` (`128,400`).
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { SandboxControl } from '../../sandbox/control.js';
import { HoldfastClient } from '../../src/client/holdfast-client.js';
import { createDataConverter } from '../../src/security/data-converter.js';
import { parseKeyRing } from '../../src/security/key-ring.js';
import { addUnits, businessUnitsSetting, PLAIN_UNIT, type ProfileUnit } from '../stack/profile-units.js';
import { startBenchStack } from './support/bench-stack.js';
import { startFront } from './support/front.js';
import { median, percentile, runJobs, table } from './support/stats.js';

const NAMESPACE = 'slow-unit';
const SLOW_UNIT: ProfileUnit = {
  ...PLAIN_UNIT,
  name: 'slow',
  appId: 'holdfast-bench-slow',
  privateKey: 'bench-slow-private-key',
  publicKey: 'bench-slow-public-key',
};
const CARD = '4111111111111111';
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
const keys = `bench:${randomBytes(32).toString('base64')}`;
const stack = await startBenchStack({ namespaces: [NAMESPACE], keys });
const service = await startSlowService(stack.sandboxUrl, delayMs);
const sandbox = new SandboxControl(stack.sandboxUrl);
await addUnits(sandbox, [SLOW_UNIT], undefined);
await stack.start('workers/worker.js', NAMESPACE, {
  env: {
    HOLDFAST_API_BASE_URL: service.url,
    HOLDFAST_BUSINESS_UNITS: businessUnitsSetting([PLAIN_UNIT, SLOW_UNIT]),
  },
});
const connection = await Connection.connect({ address: stack.address });
const dataConverter = createDataConverter(parseKeyRing(keys));
const holdfast = new HoldfastClient(new Client({ connection, namespace: NAMESPACE, dataConverter }));

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
      service.most = 0;
      legs.get(callers)?.push({ ...(await leg(label, charges)), mostSlowCalls: service.most });
      await stop();
    }
  }
  report(legs);
} finally {
  await connection.close();
  service.close();
  await stack.stop();
}

async function leg(label: string, count: number): Promise<Pick<Leg, 'charges' | 'refunds'>> {
  const payments: string[] = [];
  const tokens = await Promise.all(Array.from({ length: count }, () => sandbox.tokenize(CARD)));
  const charged = await runJobs(count, CONCURRENCY, async (index) => {
    const paymentMethod = { type: 'tokenized', token: tokens[index]?.token ?? '' } as const;
    const input = { reference: `quick-${label}-${index}`, amount: 6_000, currency: 'USD', paymentMethod };
    const { status } = await holdfast.charge(input, { waitFor: '2 minutes' });
    if (status !== 'succeeded') throw new Error(`${input.reference}: ${status}`);
    payments[index] = input.reference;
  });
  const refunded = await runJobs(count, CONCURRENCY, async (index) => {
    const reference = payments[index] ?? '';
    const { status, ...rest } = await holdfast.refund(
      { payment: reference, commandId: 'all' },
      { waitFor: '2 minutes' },
    );
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
      const input = {
        reference: `slow-${label}-${lane}-${n}`,
        businessUnit: SLOW_UNIT.name,
        amount: 6_000,
        currency: 'USD',
        paymentMethod: { type: 'tokenized', token },
      } as const;
      let { status } = await holdfast.charge(input, { waitFor: '2 minutes' });
      while (status === 'unknown') ({ status } = await holdfast.charge(input, { waitFor: '2 minutes' }));
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

/** The sandbox, behind one address for all units, at which the calls of one are slow. */
async function startSlowService(target: string, ms: number) {
  const calls = { most: 0 };
  let now = 0;
  const front = await startFront(target, async ({ headers }, _response, pass) => {
    const isSlow = headers['app-id'] === SLOW_UNIT.appId;
    now += isSlow ? 1 : 0;
    calls.most = Math.max(calls.most, now);
    try {
      await sleep(isSlow ? ms : 0);
      await pass();
    } finally {
      now -= isSlow ? 1 : 0;
    }
  });
  return Object.assign(calls, front);
}
