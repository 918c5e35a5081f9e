/**
 * Measures what one business unit's slow service costs another unit on the same worker and webhook handler: its charges,
 * refunds of them, and events that end its pending charges, alone and beside callers of a unit whose service takes `--ms`
 * (10000) for each call. By turns, on one stack; medians of the rounds. `--per-second` (5): each is due at its time,
 * whatever became of those before it. `--concurrency <n>` instead: so many callers, each after the answer to its last,
 * which fill both cores. `--rounds` (5), `--charges` per leg (200), `--callers` (`128,400`).
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { paymentWorkflowId } from '../../src/contract/names.js';
import { addUnits, businessUnitsSetting, PLAIN_UNIT } from '../stack/profile-units.js';
import { startBenchStack } from './support/bench-stack.js';
import { benchUnit, CARD, chargeInput, pay, tokensFor, WAIT } from './support/payments.js';
import { median, percentile, runAtRate, runJobs, table } from './support/stats.js';

const [QUICK, SLOW] = [benchUnit('quick'), benchUnit('slow')];
/** A card whose charges pend until they are completed. */
const PENDING_CARD = '4000000000000077';
const PENDING_MS = 24 * 3_600_000;
const LEGS = ['charge', 'refund', 'event'] as const;

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    charges: { type: 'string', default: '200' },
    callers: { type: 'string', default: '128,400' },
    'per-second': { type: 'string', default: '5' },
    concurrency: { type: 'string' },
    ms: { type: 'string', default: '10000' },
  },
});
const [rounds, charges, delayMs] = [Number(values.rounds), Number(values.charges), Number(values.ms)];
/**
 * A charge is two calls. Callers of the slow unit begin one after the other within that time: else all would end one
 * charge and begin the next in the same half of it. The first calls of the last one have ended after the second.
 */
const [beginningMs, settleMs] = [2 * delayMs, 3.5 * delayMs];
const [perSecond, concurrency] = [Number(values['per-second']), values.concurrency];
const beside = [0, ...values.callers.split(',').map(Number)];
const stack = await startBenchStack(['slow-unit']);
const { sandbox } = stack;
/** Calls of the slow unit that the service had at once. */
const slowCalls = { now: 0, most: 0 };
const url = await stack.front(async ({ headers }, _response, pass) => {
  const isSlow = headers['app-id'] === SLOW.appId;
  slowCalls.now += isSlow ? 1 : 0;
  slowCalls.most = Math.max(slowCalls.most, slowCalls.now);
  try {
    await sleep(isSlow ? delayMs : 0);
    await pass();
  } finally {
    slowCalls.now -= isSlow ? 1 : 0;
  }
});
const env = { HOLDFAST_API_BASE_URL: url, HOLDFAST_BUSINESS_UNITS: businessUnitsSetting([PLAIN_UNIT, QUICK, SLOW]) };
const handler = await stack.start('workers/webhook.js', { env });
await addUnits(sandbox, [QUICK, SLOW], new URL('/webhooks', handler.url).href);
await sandbox.settings({ pendingMs: PENDING_MS });
await stack.start('workers/worker.js', { env });
const { holdfast, temporal } = await stack.connect();

/** ms that each took. */
type Leg = Record<(typeof LEGS)[number], number[]>;

try {
  await leg('warm', 20);
  const legs = new Map<number, (Leg & { mostSlowCalls: number })[]>(beside.map((callers) => [callers, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const callers of beside) {
      const label = `${round}-beside-${callers}`;
      const stop = callUntilStopped(callers, label);
      if (callers > 0) await sleep(settleMs);
      slowCalls.most = 0;
      legs.get(callers)?.push({ ...(await leg(label, charges)), mostSlowCalls: slowCalls.most });
      await stop();
    }
  }
  report(legs);
} finally {
  await stack.stop();
}

async function leg(label: string, count: number): Promise<Leg> {
  const tokens = await tokensFor(sandbox, count, QUICK.publicKey);
  const nameOf = (index: number): string => `quick-${label}-${index}`;
  const charge = await send(count, (index) => pay(holdfast, nameOf(index), tokens[index], QUICK.name));
  const refund = await send(count, async (index) => {
    const reference = nameOf(index);
    const { status, ...rest } = await holdfast.refund({ payment: reference, commandId: 'all' }, WAIT);
    if (status !== 'succeeded') throw new Error(`refund of ${reference}: ${status} ${JSON.stringify(rest)}`);
  });
  return { charge, refund, event: await endPending(`pending-${label}`, count) };
}

/** From when a pending charge ends at the service, which an event tells, until its flow has ended. */
async function endPending(label: string, count: number): Promise<number[]> {
  const pending = await Promise.all(
    Array.from({ length: count }, async (_, index) => {
      await sleep(index * 200);
      const { token } = await sandbox.tokenize({ cardNumber: PENDING_CARD, publicKey: QUICK.publicKey });
      const input = { ...chargeInput(`${label}-${index}`, token), businessUnit: QUICK.name };
      const { transactionId } = await holdfast.charge(input, WAIT);
      return { workflowId: paymentWorkflowId(input.reference), transactionId: transactionId ?? 'not known' };
    }),
  );
  return await send(count, async (index) => {
    const one = pending[index];
    if (one === undefined) return;
    await sandbox.complete(one.transactionId, { status: 'Succeed' });
    const { status } = (await temporal.workflow.getHandle(one.workflowId).result()) as { status: string };
    if (status !== 'succeeded') throw new Error(`${one.workflowId}: ${status}`);
  });
}

async function send(count: number, job: (index: number) => Promise<void>): Promise<number[]> {
  if (concurrency !== undefined) return await runJobs(count, Number(concurrency), job);
  return await runAtRate(perSecond, (index) => index < count, job);
}

/** So many charges of the slow unit are under way until the returned function is called, which waits for their answers. */
function callUntilStopped(callers: number, label: string): () => Promise<void> {
  let goesOn = true;
  const lanes = Array.from({ length: callers }, async (_, lane) => {
    await sleep((lane * beginningMs) / callers);
    for (let n = 0; goesOn; n += 1) {
      const { token } = await sandbox.tokenize({ cardNumber: CARD, publicKey: SLOW.publicKey });
      const input = { ...chargeInput(`slow-${label}-${lane}-${n}`, token), businessUnit: SLOW.name };
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

function report(legs: ReadonlyMap<number, readonly (Leg & { mostSlowCalls: number })[]>): void {
  const cellsOf = LEGS.flatMap((name) => [`${name} p50 ms`, 'x', 'p99 ms', 'x']);
  const rows = [['beside', ...cellsOf, 'slow calls at once']];
  const middle = (of: readonly Leg[], name: keyof Leg, p: number): number =>
    median(of.map((one) => percentile(one[name], p)));
  const alone = legs.get(0) ?? [];
  for (const [callers, of] of legs) {
    const cells = LEGS.flatMap((name) =>
      [50, 99].flatMap((p) => {
        const ms = middle(of, name, p);
        return [ms.toFixed(0), (ms / middle(alone, name, p)).toFixed(2)];
      }),
    );
    rows.push([`${callers} callers`, ...cells, String(Math.max(...of.map(({ mostSlowCalls }) => mostSlowCalls)))]);
  }
  const load = concurrency === undefined ? `${perSecond} per second` : `concurrency ${concurrency}`;
  console.log(`Medians of ${rounds} rounds, ${charges} charges, refunds and events each at ${load}; a call of the`);
  console.log(`other unit takes ${delayMs} ms. x: of the same beside 0 callers.\n`);
  console.log(table(rows));
}
