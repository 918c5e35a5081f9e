/**
 * Measures charges beside many open flows: two stacks, one with `--open` (10,000) charges that wait for an operator,
 * one with none; the same charges on both, interleaved. `--rounds` (5), `--charges` (200).
 */
import { randomBytes } from 'node:crypto';
import { startBenchStack } from '../support/bench-stack.js';
import { numbersOf } from '../support/numbers.js';
import { table } from '../support/stats.js';
import { CONCURRENCY, type Load, measureRound, medianRound, openLoad, type Round } from './load.js';
import { openWaitingFlows, startWrongAmounts } from './waiting-flows.js';

const { rounds, charges, open } = numbersOf({ rounds: 5, charges: 200, open: 10_000 });
const keys = `bench:${randomBytes(32).toString('base64')}`;
const none = await startBenchStack({ namespaces: ['holdfast'], keys });
const many = await startBenchStack({ namespaces: ['holdfast'], keys });
const wrongAmounts = await startWrongAmounts();
const env = { HOLDFAST_BENCH_WAITING_URL: wrongAmounts.url };
try {
  const cells: { name: string; load: Load; measured: Round[] }[] = [
    { name: 'no open flow', load: await openLoad(none, 'holdfast', keys, env), measured: [] },
    { name: `${open} open flows`, load: await openLoad(many, 'holdfast', keys, env), measured: [] },
  ];
  const [empty, full] = cells as [(typeof cells)[number], (typeof cells)[number]];
  const before = await full.load.rssMb();
  await openWaitingFlows(full.load.client, open);
  console.log(`The worker held ${before} MB before the flows were opened and ${await full.load.rssMb()} MB after.`);
  for (let round = 0; round < rounds; round += 1) {
    for (const { load, measured } of cells) measured.push(await measureRound(load, charges, round));
  }
  const base = medianRound(empty.measured);
  const rows = [['beside', 'per s (c=32)', 'x none', 'p50 ms (c=1)', 'x none', 'p99 ms', 'worker MB']];
  for (const { name, load, measured } of cells) {
    const own = medianRound(measured);
    rows.push([
      name,
      own.perSecond.toFixed(1),
      (own.perSecond / base.perSecond).toFixed(2),
      own.p50.toFixed(1),
      (own.p50 / base.p50).toFixed(2),
      own.p99.toFixed(1),
      String(await load.rssMb()),
    ]);
  }
  console.log(`Medians of ${rounds} interleaved rounds, ${charges} charges each at concurrency ${CONCURRENCY}.\n`);
  console.log(table(rows));
  for (const { load } of cells) await load.close();
} finally {
  wrongAmounts.close();
  await none.stop();
  await many.stop();
}
