import { type BenchStack, startBenchStackOn } from '../support/bench-stack.js';
import { type Figures, type Load, measure, medianOf, openLoad, tasksRunAgain } from '../charge/load.js';
import { slowDownPosts } from '../support/payments.js';
import { LocalPostgres } from '../support/postgres.js';
import { cpuMsOfFamily } from '../support/process-cost.js';
import { median } from '../support/stats.js';
import { startTemporalOn } from '../support/temporal-on-postgres.js';

export const SHARDS = [1, 4, 16] as const;
export const WORKERS = [1, 2] as const;
/** ms that a POST takes. */
export const SERVICES = [5, 800] as const;

/** Fewer than the tasks that one worker has for one business unit, so that no call waits for a place. */
export const CONCURRENCY = 64;

/** One leg. */
interface Leg {
  figures: Figures;
  /** Of PostgreSQL, per charge: CPU time in ms, and transactions that write. */
  cpu: number;
  writes: number;
  /** Charges whose task ran again. */
  again: number;
}

/** What is compared: the medians of its legs. */
export interface Cell {
  readonly service: number;
  readonly shards: number;
  readonly workers: number;
  readonly figures: Figures;
  readonly cpu: number;
  readonly writes: number;
  /** Of how many charges, over all legs. */
  readonly charges: number;
  readonly again: number;
}

/** One number of shards, with workers that share nothing else: a namespace for each number of workers. */
interface Cluster {
  readonly shards: number;
  readonly postgres: LocalPostgres;
  readonly stack: BenchStack;
  readonly loads: ReadonlyMap<number, Load>;
}

const namespaceOf = (workers: number): string => `workers-${workers}`;
const NAMESPACES = [namespaceOf(WORKERS[0]), namespaceOf(WORKERS[1])] as const;

/**
 * All cells by turns, in every second round from the last to the first, on Temporal servers that run side by side. What
 * is not measured waits.
 * @param note is told of each round that has ended
 */
export async function measureCells(rounds: number, charges: number, note: (round: number) => void): Promise<Cell[]> {
  const closing: (() => Promise<void>)[] = [];
  try {
    const clusters: Cluster[] = [];
    for (const shards of SHARDS) clusters.push(await openCluster(shards, closing));
    const cells = SERVICES.flatMap((service) =>
      clusters.flatMap((cluster) => WORKERS.map((workers) => ({ service, cluster, workers, legs: [] as Leg[] }))),
    );
    for (const cluster of clusters)
      for (const load of cluster.loads.values()) await load.send(CONCURRENCY, CONCURRENCY, 'w');
    for (let round = 0; round < rounds; round += 1) {
      for (const { service, cluster, workers, legs } of round % 2 === 0 ? cells : cells.toReversed())
        legs.push(await measureLeg(cluster, workers, service, charges, `${service}-${round}`));
      note(round + 1);
    }
    return cells.map(({ service, cluster: { shards }, workers, legs }) => ({
      ...{ service, shards, workers },
      figures: medianOf(legs.map(({ figures }) => figures)),
      cpu: median(legs.map(({ cpu }) => cpu)),
      writes: median(legs.map(({ writes }) => writes)),
      charges: rounds * charges,
      again: legs.reduce((sum, { again }) => sum + again, 0),
    }));
  } finally {
    for (const close of closing.toReversed()) await close();
  }
}

async function openCluster(shards: number, closing: (() => Promise<void>)[]): Promise<Cluster> {
  const postgres = await LocalPostgres.start();
  closing.push(() => postgres.close());
  const stack = await startBenchStackOn(NAMESPACES, () => startTemporalOn(postgres, NAMESPACES, shards));
  closing.push(() => stack.stop());
  const loads = new Map<number, Load>();
  for (const workers of WORKERS)
    loads.set(workers, await openLoad(stack, 'events', { namespace: namespaceOf(workers), workers }));
  return { shards, postgres, stack, loads };
}

async function measureLeg(
  { postgres, stack, loads }: Cluster,
  workers: number,
  service: number,
  charges: number,
  label: string,
): Promise<Leg> {
  const load = loads.get(workers);
  if (load === undefined) throw new Error(`nothing was opened for ${workers} workers`);
  await slowDownPosts(stack.sandbox, service);
  const { again: earlier } = await tasksRunAgain(load.client);
  const before = { cpu: cpuMsOfFamily(postgres.pid()), writes: await writesOf(postgres) };
  const figures = await measure(load, charges, CONCURRENCY, label);
  const after = { cpu: cpuMsOfFamily(postgres.pid()), writes: await writesOf(postgres) };
  await stack.sandbox.clearFaults();
  const { again } = await tasksRunAgain(load.client);
  return {
    figures,
    again: again - earlier,
    cpu: (after.cpu - before.cpu) / charges,
    writes: (after.writes - before.writes) / charges,
  };
}

/** Transactions that have written something, each of which a commit has made wait for the disk. */
async function writesOf(postgres: LocalPostgres): Promise<number> {
  const [row] = await postgres.query('SELECT pg_snapshot_xmax(pg_current_snapshot())::text::float8 AS writes');
  return (row as { writes: number }).writes;
}
