/**
 * Holdfast's charge, everything on, in three shapes against a naive two-activity charge: interleaved in one
 * run on one tuned dev server, medians of the rounds. `--rounds <n>` (default 5), `--charges <n>` (200).
 */
import { randomBytes } from 'node:crypto';
import { parseArgs } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { HoldfastClient } from '../../src/client/holdfast-client.js';
import { SandboxControl } from '../../src/sandbox/control.js';
import { createDataConverter } from '../../src/security/data-converter.js';
import { parseKeyRing } from '../../src/security/key-ring.js';
import { startBenchStack } from '../support/bench-stack.js';
import { median, percentile, runJobs, table } from '../support/stats.js';
import { billableActions } from './billable-actions.js';
import type { NaiveCharge } from './naive/activities.js';
import type { Variant } from './variants.js';
import { NAIVE_TASK_QUEUE, VARIANTS } from './variants.js';

interface Round {
  perSecond: number;
  p50: number;
  p99: number;
}

const { values } = parseArgs({
  options: { rounds: { type: 'string', default: '5' }, charges: { type: 'string', default: '200' } },
});
const rounds = Number(values.rounds);
const charges = Number(values.charges);
const SEQUENTIAL = 40;
const CONCURRENCY = 32;

const keys = `bench:${randomBytes(32).toString('base64')}`;
const stack = await startBenchStack({ namespaces: VARIANTS, keys });
try {
  const connection = await Connection.connect({ address: stack.address });
  const sandbox = new SandboxControl(stack.sandboxUrl);
  const clients = new Map(VARIANTS.map((variant) => [variant, clientOf(connection, variant)]));
  const workers = new Map<Variant, { rss(): Promise<number> }>();
  for (const variant of VARIANTS) workers.set(variant, await stack.startWorker(variant));
  for (const variant of VARIANTS) await measure(variant, 32, 8, 'warm');

  const measured = new Map<Variant, Round[]>(VARIANTS.map((variant) => [variant, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const variant of VARIANTS) {
      const begun = performance.now();
      await measure(variant, charges, CONCURRENCY, `c${round}`);
      const perSecond = charges / ((performance.now() - begun) / 1000);
      const took = await measure(variant, SEQUENTIAL, 1, `s${round}`);
      measured.get(variant)?.push({ perSecond, p50: percentile(took, 50), p99: percentile(took, 99) });
    }
  }
  await report(measured, workers);
  await connection.close();

  async function measure(variant: Variant, count: number, concurrency: number, label: string): Promise<number[]> {
    const tokens = await Promise.all(Array.from({ length: count }, () => sandbox.tokenize('4111111111111111')));
    const client = clients.get(variant);
    if (client === undefined) throw new Error(`no client for ${variant}`);
    const holdfast = new HoldfastClient(client);
    return await runJobs(count, concurrency, async (index) => {
      const reference = `${variant}-${label}-${index}`;
      const token = tokens[index]?.token ?? '';
      if (variant === 'naive') {
        const input: NaiveCharge = { reference, amount: 1095, currency: 'USD', token };
        await client.workflow.execute('naiveCharge', {
          workflowId: reference,
          taskQueue: NAIVE_TASK_QUEUE,
          args: [input],
        });
        return;
      }
      const paymentMethod = { type: 'tokenized', token } as const;
      const outcome = await holdfast.charge({ reference, amount: 1095, currency: 'USD', paymentMethod });
      if (outcome.status !== 'succeeded') throw new Error(`${reference}: ${outcome.status}`);
    });
  }

  async function report(all: Map<Variant, Round[]>, running: Map<Variant, { rss(): Promise<number> }>): Promise<void> {
    const base = summary(all.get('naive') ?? []);
    const rows = [
      ['variant', 'per s (c=32)', 'x naive', 'p50 ms (c=1)', 'x naive', 'p99 ms', 'events', 'actions', 'worker MB'],
    ];
    for (const variant of VARIANTS) {
      const own = summary(all.get(variant) ?? []);
      const workflowId = variant === 'naive' ? 'naive-s0-1' : `payment-${variant}-s0-1`;
      const history = await clients.get(variant)?.workflow.getHandle(workflowId).fetchHistory();
      const events = history?.events ?? [];
      rows.push([
        variant,
        own.perSecond.toFixed(1),
        (own.perSecond / base.perSecond).toFixed(2),
        own.p50.toFixed(1),
        (own.p50 / base.p50).toFixed(2),
        own.p99.toFixed(1),
        String(events.length),
        String(billableActions(events)),
        String(Math.round(((await running.get(variant)?.rss()) ?? 0) / 2 ** 20)),
      ]);
    }
    console.log(`Medians of ${rounds} interleaved rounds, ${charges} charges each at concurrency ${CONCURRENCY}:\n`);
    console.log(table(rows));
  }
} finally {
  await stack.stop();
}

function clientOf(connection: Connection, variant: Variant): Client {
  if (variant === 'naive') return new Client({ connection, namespace: variant });
  const dataConverter = createDataConverter(parseKeyRing(keys), { onCardData: 'refuse' });
  return new Client({ connection, namespace: variant, dataConverter });
}

function summary(measured: readonly Round[]): Round {
  return {
    perSecond: median(measured.map(({ perSecond }) => perSecond)),
    p50: median(measured.map(({ p50 }) => p50)),
    p99: median(measured.map(({ p99 }) => p99)),
  };
}
