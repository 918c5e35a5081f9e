/**
 * Measures the effect of the dev server's settings: the same charges on a server as shipped, one with faster queue
 * readers, and one with the settings of `npm start` (those and a write-ahead log), interleaved. `--rounds` (5),
 * `--charges` (100).
 */
import { type BenchStack, SERVER_SETTINGS, type ServerSettings, startBenchStack } from '../support/bench-stack.js';
import { numbersOf, table } from '../support/stats.js';
import { comparedCells, CONCURRENCY, type Load, measureRound, medianRound, openLoad, type Round } from './load.js';
import type { Variant } from './variants.js';

const MEASURED = ['naive', 'no-events'] as const;

const { rounds, charges } = numbersOf({ rounds: 5, charges: 100 });
const stacks: BenchStack[] = [];
const cells: { settings: ServerSettings; variant: Variant; load: Load; measured: Round[] }[] = [];
try {
  for (const settings of SERVER_SETTINGS) {
    const stack = await startBenchStack(MEASURED, settings);
    stacks.push(stack);
    for (const variant of MEASURED) {
      cells.push({ settings, variant, load: await openLoad(stack, variant), measured: [] });
    }
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const cell of cells) cell.measured.push(await measureRound(cell.load, charges, round));
  }
  report();
} finally {
  for (const stack of stacks) await stack.stop();
}

function report(): void {
  const rows = [['server', 'charge', 'per s (c=32)', 'x shipped', 'p50 ms (c=1)', 'x shipped']];
  for (const { settings, variant, measured } of cells) {
    const base = medianRound(cells.find((cell) => cell.variant === variant)?.measured ?? []);
    rows.push([settings, variant, ...comparedCells(medianRound(measured), base)]);
  }
  console.log(`Medians of ${rounds} interleaved rounds, ${charges} charges each at concurrency ${CONCURRENCY}.\n`);
  console.log(table(rows));
}
