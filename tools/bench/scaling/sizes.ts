import { placesOf } from '../../../activities/bulkhead.js';
import { POLLERS, WORKFLOW_TASKS } from '../../../workers/create-payment-worker.js';
import { numberIn, numbersIn, tableOf } from './documented.js';

/** Charges a second. */
const RATES = [1, 100, 5_000];

/** What the sizes assume; docs/scaling.md gives the reasons. */
const ASSUMED = {
  /** Share of its cores that a process uses at the named rate. */
  busy: 0.5,
  /** Cores that one worker or webhook handler can use. */
  coresOfProcess: 1,
  /** Processes of a kind, so that one of them can be away. */
  leastProcesses: 2,
  /** By how much the rate may grow over the life of a database, whose shards are chosen once. */
  growth: 10,
  /** The default of docker-compose.yml. */
  leastShards: 512,
} as const;

const SECONDS_OF_DAY = 86_400;
const POSTS_OF_CHARGE = 2;
/** Charges of one business unit that hold a task of one worker at a time. */
const TASKS_OF_UNIT = placesOf({ tasks: WORKFLOW_TASKS, calls: 0 }).local;

/** Of one charge, as docs/performance.md has them. */
interface Documented {
  actions: number;
  /** Of its history, which a cloud stores. */
  historyBytes: number;
  keptBytes: number;
  visibilityBytes: number;
  walBytes: number;
  /** Of the row in the reference book. */
  bookBytes: number;
}

function documented(): Documented {
  const costs = tableOf('performance.md', 'one flow', 'events');
  const bytes = tableOf('performance.md', 'one flow that has ended', 'rows');
  const tables = tableOf('performance.md', 'table', 'rows');
  return {
    actions: numberIn(costs, 'charge, started by the client', 'billable actions'),
    historyBytes: numberIn(costs, 'charge, started by the client', 'bytes'),
    keptBytes: numberIn(bytes, 'charge', 'kept'),
    walBytes: numberIn(bytes, 'charge', 'WAL'),
    bookBytes: numberIn(bytes, 'its row of the reference book', 'kept'),
    visibilityBytes:
      numberIn(tables, 'executions_visibility', 'rows') + numberIn(tables, 'executions_visibility', 'indexes'),
  };
}

/**
 * What a merchant runs at each rate.
 * @param speed the table of throughput
 * @param cost the table of what a charge costs
 */
export function sizesOf(speed: readonly (readonly string[])[], cost: readonly (readonly string[])[]): string[][] {
  const one = documented();
  // A size that is wrong should be too large.
  const most = (column: string): number => Math.max(...numbersIn(cost, column));
  const [, ...rows] = speed;
  const perShard = Math.max(...numbersIn([speed[0] ?? [], ...rows.filter(([, shards]) => shards === '1')], 'per s'));
  const cores = (ms: number, rate: number): number => (ms * rate) / 1_000 / ASSUMED.busy;
  const processes = (ms: number, rate: number): number =>
    Math.max(ASSUMED.leastProcesses, Math.ceil(cores(ms, rate) / ASSUMED.coresOfProcess));
  const shards = (rate: number): number =>
    2 ** Math.ceil(Math.log2(Math.max(ASSUMED.leastShards, (rate * ASSUMED.growth) / perShard)));
  const gigabytes = (bytes: number, rate: number, days: number): number => (bytes * rate * SECONDS_OF_DAY * days) / 1e9;
  const storeBytes = one.keptBytes - one.visibilityBytes;
  const lines: [what: string, value: (rate: number) => number][] = [
    ['worker processes', (rate) => processes(most('worker'), rate)],
    [
      'ms that a POST may take before their tasks lack',
      (rate) => (processes(most('worker'), rate) * TASKS_OF_UNIT * 1_000) / (rate * POSTS_OF_CHARGE),
    ],
    ['polls of workflow tasks by them', (rate) => processes(most('worker'), rate) * POLLERS],
    ['webhook handlers', (rate) => processes(most('handler'), rate)],
    ["cores of Temporal's server", (rate) => cores(most('Temporal'), rate)],
    ['history shards', shards],
    ['cores of PostgreSQL', (rate) => cores(most('PostgreSQL'), rate)],
    ['its writing transactions a second', (rate) => most('writing transactions') * rate],
    ['its WAL, MB a second', (rate) => (one.walBytes * rate) / 1e6],
    ...[30, 90, 365].flatMap((days): typeof lines => [
      [`kept for ${days} days, GB`, (rate) => gigabytes(one.keptBytes, rate, days)],
      [`kept for ${days} days without visibility, GB`, (rate) => gigabytes(storeBytes, rate, days)],
    ]),
    ['reference book, GB a year', (rate) => gigabytes(one.bookBytes, rate, 365)],
    ['actions a second on Temporal Cloud', (rate) => one.actions * rate],
    ...[30, 90].map((days): [string, (rate: number) => number] => [
      `histories of ${days} days there, GB`,
      (rate) => gigabytes(one.historyBytes, rate, days),
    ]),
  ];
  return [
    ['charges a second', ...RATES.map(shown)],
    ...lines.map(([what, value]) => [what, ...RATES.map((rate) => shown(value(rate)))]),
  ];
}

/** Two digits at least, since more would not be true. */
function shown(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US');
  return String(Number(value.toPrecision(2)));
}

/** By the tables in docs/scaling.md. */
export function documentedSizes(): string[][] {
  const page = 'scaling.md';
  return sizesOf(tableOf(page, 'a POST takes', 'shards', 'per s'), tableOf(page, 'a POST takes', 'shards', 'worker'));
}
