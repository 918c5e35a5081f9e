/**
 * What ended flows take in Temporal's database: `npm run bench -- bytes`, with `--flows` of each kind. Runs Temporal's own
 * server over a PostgreSQL of its own, in a temporary folder.
 */
import { randomUUID } from 'node:crypto';
import { parseArgs } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HoldfastClient } from '../../../src/client/holdfast-client.js';
import type { SandboxControl } from '../../../sandbox/control.js';
import { createReferenceBookTable, PostgresReferenceBook } from '../../../src/reference-book/postgres.js';
import { PROGRAMS } from '../../stack/ready-process.js';
import { startBenchStackOn } from '../support/bench-stack.js';
import { chargeInput, pay, tokensFor, WAIT } from '../support/payments.js';
import { LocalPostgres, whyNoPostgres } from '../support/postgres.js';
import { runJobs, table } from '../support/stats.js';
import { startTemporalOn, whyNoServer } from '../support/temporal-on-postgres.js';
import { type Growth, Measuring, type Relation, sumOf } from './measuring.js';

const BOOK = 'holdfast';
const NAMESPACES = ['bytes'] as const;

type Kind = (holdfast: HoldfastClient, reference: string, token: string | undefined) => Promise<unknown>;

const charge: Kind = pay;
const KINDS: Readonly<Record<string, Kind>> = {
  charge: charge,
  'authorizeAndCapture, captured by command': async (holdfast, reference, token) => {
    const held = await holdfast.authorize({ ...chargeInput(reference, token), captureDeadline: '6 days' }, WAIT);
    if (held.status !== 'authorized') throw new Error(`${reference}: ${held.status}`);
    const taken = await holdfast.capture(reference, {}, WAIT);
    if (taken.status !== 'succeeded') throw new Error(`${reference}: ${taken.status}`);
  },
  storeCard: async (holdfast, reference, token) => {
    const customer = { customerReference: reference, email: 'ada@example.com' };
    const consent = { by: 'charge', for: 'recurring' } as const;
    const stored = await holdfast.storeCard({ ...chargeInput(reference, token), customer, consent }, WAIT);
    if (stored.status !== 'stored') throw new Error(`${reference}: ${stored.status}`);
  },
};

const { values } = parseArgs({ options: { flows: { type: 'string', default: '2000' } } });
const flows = Number(values.flows);
if (!Number.isInteger(flows) || flows < 100) throw new RangeError('--flows: at least 100, or pages are measured');

async function main(): Promise<void> {
  const postgres = await LocalPostgres.start();
  try {
    const stack = await startBenchStackOn(NAMESPACES, () => startTemporalOn(postgres, NAMESPACES));
    try {
      const { sandbox } = stack;
      const { holdfast } = await stack.connect();
      await stack.start(PROGRAMS.worker);
      const measuring = new Measuring(postgres, ['temporal', 'temporal_visibility', BOOK]);
      await postgres.query(`CREATE DATABASE ${BOOK}`);
      await createReferenceBookTable(postgres.url(BOOK));
      const rows = [['one flow that has ended', 'rows', 'indexes', 'kept', 'packed', 'WAL']];
      let ofCharge: Relation[] = [];
      for (const [name, kind] of Object.entries(KINDS)) {
        const growth = await measuring.during(() => run(holdfast, sandbox, kind));
        if (kind === charge) ofCharge = growth.relations;
        rows.push(rowOf(name, growth));
      }
      const ofBook = await measuring.during(() => fillBook(postgres.url(BOOK)));
      rows.push(rowOf('its row of the reference book', ofBook));
      console.log(`${flows} of each kind, bytes each\n${table(rows)}`);
      console.log(`\nA charge, by table\n${table(byTable(ofCharge))}`);
      const perCharge = each(sumOf(ofCharge, 'rows') + sumOf(ofCharge, 'indexes'));
      console.log(`\nGB in Temporal's databases, of charges alone\n${table(keptBy(perCharge))}`);
    } finally {
      await stack.stop();
    }
  } finally {
    await postgres.close();
  }
}

async function run(holdfast: HoldfastClient, sandbox: SandboxControl, kind: Kind): Promise<void> {
  const tokens = await tokensFor(sandbox, flows);
  const prefix = `bytes-${Date.now().toString(36)}`;
  await runJobs(flows, 8, async (index) => void (await kind(holdfast, `${prefix}-${index}`, tokens[index])));
  // Flows that have been answered end a moment later, and their visibility after that.
  await sleep(10_000);
}

/** As the activity does: a claim, then the payment. */
async function fillBook(url: string): Promise<void> {
  const book = new PostgresReferenceBook({ url, environment: 'live', namespace: 'default' });
  await runJobs(flows, 8, async (index) => {
    const claim = { firstRunId: randomUUID(), fingerprint: 'ab'.repeat(32) };
    await book.claim(`payment-order-${index}`, claim);
    await book.notePayment(`payment-order-${index}`, claim, randomUUID());
  });
  await book.close();
}

const each = (bytes: number): number => Math.round(bytes / flows);

function rowOf(name: string, { relations, packed, wal }: Growth): string[] {
  const [rows, indexes] = [sumOf(relations, 'rows'), sumOf(relations, 'indexes')];
  return [name, ...[rows, indexes, rows + indexes, packed, wal].map((bytes) => String(each(bytes)))];
}

const PER_SECOND = [1, 10, 100];
const RETENTION_DAYS = [30, 90, 365];

/** Bytes of a charge, times charges of a day, times days. */
function keptBy(perCharge: number): string[][] {
  const gigabytes = (rate: number, days: number): string =>
    String(Math.round((perCharge * rate * 86_400 * days) / 1e9));
  return [
    ['charges per second', ...RETENTION_DAYS.map((days) => `${days} days`)],
    ...PER_SECOND.map((rate) => [String(rate), ...RETENTION_DAYS.map((days) => gigabytes(rate, days))]),
  ];
}

function byTable(relations: readonly Relation[]): string[][] {
  const grown = relations.filter(({ rows, indexes }) => each(rows + indexes) > 50);
  const sorted = grown.toSorted((x, y) => y.rows + y.indexes - x.rows - x.indexes);
  return [
    ['table', 'rows', 'indexes', 'number of indexes'],
    ...sorted.map(({ name, rows, indexes, count }) => [name, String(each(rows)), String(each(indexes)), String(count)]),
  ];
}

const why = whyNoPostgres() ?? whyNoServer();
if (why === undefined) await main();
else console.log(`skipped: ${why}`);
