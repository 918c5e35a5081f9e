/**
 * The charges of `npm run bench -- charge` beside the same two calls as a DBOS workflow of two steps over PostgreSQL,
 * whose settings are its own; rounds interleaved on one sandbox. No event is sent of DBOS's charges.
 *
 * `--rounds` (5), `--charges` per leg (300), `--sequential` (100): as many more, one after the other.
 */
import { request } from 'undici';
import { DEFAULT_UNIT } from '../../../sandbox/control.js';
import {
  CONCURRENCY,
  measureRound,
  medianRound,
  openLoad,
  type Round,
  type Sender,
  warmSender,
} from '../charge/load.js';
import { costHeader, costRow, ratio, SPEED_HEADER, speedRow } from '../charge/report.js';
import { VARIANTS } from '../charge/variants.js';
import { type BenchStack, startBenchStack } from '../support/bench-stack.js';
import { chargeInput, tokensFor } from '../support/payments.js';
import { LocalPostgres, whyNoPostgres } from '../support/postgres.js';
import { cpuMs, cpuMsOfFamily } from '../support/process-cost.js';
import { numbersOf, table } from '../support/stats.js';
import { dbosSdk } from './sdk.js';

const { rounds, charges, sequential } = numbersOf({ rounds: 5, charges: 300, sequential: 100 });

async function main(sdk: string): Promise<void> {
  const postgres = await LocalPostgres.start();
  try {
    const stack = await startBenchStack(VARIANTS);
    try {
      const senders = new Map<string, Sender>([['DBOS', await openDbos(stack, postgres, sdk)]]);
      for (const variant of VARIANTS) senders.set(variant, await openLoad(stack, variant));
      report(await measureAll(senders));
    } finally {
      await stack.stop();
    }
  } finally {
    await postgres.close();
  }
}

async function openDbos(stack: BenchStack, postgres: LocalPostgres, sdk: string): Promise<Sender> {
  const { url, process: app } = await stack.start('tools/bench/dbos/app.js', { args: [sdk, postgres.url('dbos')] });
  const used = {
    Temporal: () => cpuMsOfFamily(postgres.pid()),
    worker: () => cpuMs(app.pid ?? 0),
    handler: () => 0,
    sandbox: () => cpuMs(stack.pids.sandbox),
    client: () => cpuMs(process.pid),
  };
  return await warmSender('dbos', {
    tokens: (count) => tokensFor(stack.sandbox, count, DEFAULT_UNIT.publicKey),
    cpu: (name) => used[name](),
    async charge(reference, token = '') {
      const { amount, currency } = chargeInput(reference, token);
      const body = JSON.stringify({ reference, amount, currency, token });
      const answer = await request(url, { method: 'POST', body });
      const said = await answer.body.text();
      if (answer.statusCode !== 200) throw new Error(`${reference}: ${said}`);
    },
  });
}

async function measureAll(senders: ReadonlyMap<string, Sender>): Promise<Map<string, Round>> {
  const measured = new Map<string, Round[]>([...senders.keys()].map((name) => [name, []]));
  for (let round = 0; round < rounds; round += 1)
    for (const [name, sender] of senders)
      measured.get(name)?.push(await measureRound(sender, charges, round, sequential));
  return new Map([...measured].map(([name, of]) => [name, medianRound(of)]));
}

function report(cells: ReadonlyMap<string, Round>): void {
  const base = cells.get('DBOS');
  const speed = [SPEED_HEADER];
  const cost = [costHeader('Temporal or PostgreSQL')];
  for (const [name, round] of cells) {
    speed.push(speedRow(name, round, base));
    cost.push(costRow(name, round.together));
  }
  console.log(`Medians of ${rounds} interleaved rounds, ${charges} charges each at concurrency ${CONCURRENCY} and`);
  console.log(`${sequential} one after the other. x: of DBOS.\n`);
  for (const rows of [speed, cost]) console.log(`${table(rows)}\n`);
  const own = cells.get('events');
  if (base === undefined || own === undefined) return;
  console.log(`DBOS's throughput, x of that with events: ${ratio(base.together.perSecond, own.together.perSecond)}`);
  console.log(`p50 alone with events, x of DBOS: ${ratio(own.alone.p50, base.alone.p50)}`);
}

const why = whyNoPostgres();
const sdk = why === undefined ? dbosSdk() : { problem: why };
if ('folder' in sdk) await main(sdk.folder);
else console.log(`skipped: ${sdk.problem}`);
