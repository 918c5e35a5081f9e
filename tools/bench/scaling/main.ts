/**
 * Charges with their three events on 1, 4 and 16 history shards, by one worker and by two, at a service that takes 5 ms
 * for each POST and at one that takes 800 ms, in one run; then what merchants of several sizes run, derived from that
 * and from docs/performance.md: `npm run bench -- scaling`. Temporal's own servers over PostgreSQL, in temporary folders.
 *
 * `--rounds` (3; with `--full` 5), `--charges` per leg (192), `--sizes`: measures nothing, and derives from the tables in
 * docs/scaling.md.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { PROCESSES } from '../charge/load.js';
import { whyNoPostgres } from '../support/postgres.js';
import { table } from '../support/stats.js';
import { whyNoServer } from '../support/temporal-on-postgres.js';
import { type Cell, CONCURRENCY, measureCells } from './cells.js';
import { documentedSizes, sizesOf } from './sizes.js';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string' },
    charges: { type: 'string', default: '192' },
    full: { type: 'boolean', default: false },
    sizes: { type: 'boolean', default: false },
  },
});
const rounds = Number(values.rounds ?? (values.full ? 5 : 3));
const charges = Number(values.charges);
for (const [name, number] of Object.entries({ rounds, charges }))
  if (!Number.isInteger(number) || number < 1) throw new RangeError(`--${name}: a whole number from 1`);

async function main(): Promise<void> {
  const begun = performance.now();
  const minutes = (): string => ((performance.now() - begun) / 60_000).toFixed(1);
  const cells = await measureCells(rounds, charges, (round) =>
    console.log(`round ${round} of ${rounds} has ended after ${minutes()} minutes`),
  );
  const [speed, cost] = [speedOf(cells), costOf(cells)];
  console.log(`\nMedians of ${rounds} interleaved rounds, ${charges} charges each at concurrency ${CONCURRENCY}, on`);
  console.log(`${availableParallelism()} cores that everything shares. x: of the first row of the same service.\n`);
  console.log(`${table(speed)}\n\nCPU ms per charge, and transactions of PostgreSQL\n\n${table(cost)}\n`);
  console.log(table(sizesOf(speed, cost)));
}

const HEADER = ['a POST takes', 'shards', 'workers'];
const nameOf = ({ service, shards, workers }: Cell): string[] => [`${service} ms`, String(shards), String(workers)];
/** CPU ms per charge. */
const cpuOf = ({ cpu, figures }: Cell): number => PROCESSES.reduce((sum, name) => sum + figures.cpu[name], cpu);

function speedOf(cells: readonly Cell[]): string[][] {
  return [
    [...HEADER, 'per s', 'x', 'p50 ms', 'p99 ms', 'cores busy'],
    ...cells.map((cell) => {
      const { perSecond, p50, p99 } = cell.figures;
      const base = cells.find(({ service }) => service === cell.service) ?? cell;
      const busy = (cpuOf(cell) * perSecond) / 1_000;
      const numbers = [
        (perSecond / base.figures.perSecond).toFixed(2),
        p50.toFixed(0),
        p99.toFixed(0),
        busy.toFixed(2),
      ];
      return [...nameOf(cell), perSecond.toFixed(1), ...numbers];
    }),
  ];
}

function costOf(cells: readonly Cell[]): string[][] {
  return [
    [...HEADER, 'PostgreSQL', ...PROCESSES, 'all', 'writing transactions', 'tasks run again'],
    ...cells.map((cell) => {
      const { cpu, figures, writes, charges: all, again } = cell;
      const parts = [cpu, ...PROCESSES.map((name) => figures.cpu[name]), cpuOf(cell), writes];
      return [...nameOf(cell), ...parts.map((part) => part.toFixed(1)), `${again} of ${all}`];
    }),
  ];
}

const why = whyNoPostgres() ?? whyNoServer();
if (values.sizes) console.log(table(documentedSizes()));
else if (why === undefined) await main();
else console.log(`skipped: ${why}`);
