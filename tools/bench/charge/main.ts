/**
 * Compares three variants of Holdfast's charge, with all features on, with a naive charge of two activities:
 * interleaved in one run on one tuned dev server. Medians of `--rounds <n>` (default 5) with `--charges <n>` (200).
 */
import { randomBytes } from 'node:crypto';
import { startBenchStack } from '../support/bench-stack.js';
import { numbersOf, table } from '../support/stats.js';
import { billableActions, CONCURRENCY, type Load, measureRound, medianRound, openLoad, type Round } from './load.js';
import { type Variant, VARIANTS } from './variants.js';

const { rounds, charges } = numbersOf({ rounds: 5, charges: 200 });
const keys = `bench:${randomBytes(32).toString('base64')}`;
const stack = await startBenchStack({ namespaces: VARIANTS, keys });
try {
  const loads = new Map<Variant, Load>();
  for (const variant of VARIANTS) loads.set(variant, await openLoad(stack, variant, keys));
  const measured = new Map<Variant, Round[]>(VARIANTS.map((variant) => [variant, []]));
  for (let round = 0; round < rounds; round += 1) {
    for (const [variant, load] of loads) measured.get(variant)?.push(await measureRound(load, charges, round));
  }
  await report(measured, loads);
  for (const load of loads.values()) await load.close();
} finally {
  await stack.stop();
}

async function report(all: Map<Variant, Round[]>, loads: Map<Variant, Load>): Promise<void> {
  const base = medianRound(all.get('naive') ?? []);
  const rows = [
    ['variant', 'per s (c=32)', 'x naive', 'p50 ms (c=1)', 'x naive', 'p99 ms', 'x naive', 'events', 'actions', 'MB'],
  ];
  for (const [variant, load] of loads) {
    const own = medianRound(all.get(variant) ?? []);
    const workflowId = variant === 'naive' ? 'naive-s0-1' : `payment-${variant}-s0-1`;
    const { events } = await load.client.workflow.getHandle(workflowId).fetchHistory();
    rows.push([
      variant,
      own.perSecond.toFixed(1),
      (own.perSecond / base.perSecond).toFixed(2),
      own.p50.toFixed(1),
      (own.p50 / base.p50).toFixed(2),
      own.p99.toFixed(1),
      (own.p99 / base.p99).toFixed(2),
      String(events?.length),
      String(billableActions(events ?? [])),
      String(await load.rssMb()),
    ]);
  }
  console.log(`Medians of ${rounds} interleaved rounds, ${charges} charges each at concurrency ${CONCURRENCY};`);
  console.log('MB is what the worker holds in memory at the end.\n');
  console.log(table(rows));
}
