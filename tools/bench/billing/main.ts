/**
 * Measures checkouts with and without subscriptions that all come due in the same minute, by turns, in one run on one
 * server. Exits with 1 if a subscription was billed twice or not at all.
 * Arguments: `--count <n>` subscriptions per burst (default 2000), `--rounds <n>` (1: it takes 25 minutes),
 * `--checkouts <n>` per second (5), `--seconds <n>` without a burst in each round (180), `--jitter <n>` seconds (900,
 * the subscription default), `--rate <n>` calls per second of the billing queue (10, the default). `--full`: 10000.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { startBenchStack } from '../support/bench-stack.js';
import { numbersOf, median, percentile, table } from '../support/stats.js';
import { checkouts, type Measured } from './checkouts.js';
import { type Burst, costOfPeriod, openBurst, openTypical, storeCards, wronglyBilled } from './subscriptions.js';

const TARGET = 1.5;
const MINUTE_MS = 60_000;
/** If a burst takes longer than this after its due time, a bill was lost. */
const LIMIT_MS = 20 * MINUTE_MS;
const WARM = 20;

const isFull = process.argv.includes('--full');
process.argv = process.argv.filter((arg) => arg !== '--full');
const { count, rounds, seconds, jitter, rate, ...load } = numbersOf({
  count: isFull ? 10_000 : 2_000,
  rounds: 1,
  checkouts: 5,
  seconds: 180,
  jitter: 900,
  rate: 10,
});

interface Round {
  without: Measured;
  with: Measured;
  /** Seconds after the due time at which the first, the median and the last subscription were billed. */
  billed: readonly number[];
}

const stack = await startBenchStack(['billing']);
const { sandbox } = stack;
const { temporal, holdfast } = await stack.connect();
await Promise.all(['payments', 'billing'].map(startWorker));
try {
  const cards = await storeCards(sandbox, stack.sandboxUrl, count);
  await checkouts({ holdfast, sandbox }, load.checkouts, 'warm', until(Date.now() + 10_000));
  const perSecond = await openingRate(cards);
  const measured: Round[] = [];
  const violations: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const [card] = cards;
    const needed = (count / perSecond) * 1_500 + (seconds + 10) * 1_000;
    const dueAt = Math.ceil((Date.now() + needed) / MINUTE_MS) * MINUTE_MS;
    if (card !== undefined) await openTypical(holdfast, card, `typical-${round}`, dueAt);
    const burst = await openBurst(holdfast, cards, { count, round, dueAt, jitterMs: jitter * 1_000 });
    const found = await measureRound(burst, round);
    measured.push(found.figures);
    violations.push(...found.violations);
  }
  await report(measured);
  for (const sentence of violations) console.error(sentence);
  if (violations.length > 0) process.exitCode = 1;
} finally {
  await stack.stop();
}

async function startWorker(queues: string): Promise<void> {
  await stack.start('workers/worker.js', {
    env: { HOLDFAST_TASK_QUEUES: queues, HOLDFAST_BILLING_CALLS_PER_SECOND: String(rate) },
  });
}

function until(epochMs: number): () => boolean {
  return () => Date.now() >= epochMs;
}

/** Subscriptions opened per second, from which a burst's due time is set. Those opened here are never billed. */
async function openingRate(cards: Awaited<ReturnType<typeof storeCards>>): Promise<number> {
  const begun = performance.now();
  const dueAt = Date.now() + 2 * 24 * 60 * MINUTE_MS;
  await openBurst(holdfast, cards, { count: WARM, round: rounds, dueAt, jitterMs: 0 });
  return (WARM * 1_000) / (performance.now() - begun);
}

async function measureRound(
  { references, dueAt }: Burst,
  round: number,
): Promise<{ figures: Round; violations: string[] }> {
  const quietFrom = dueAt - seconds * 1_000;
  if (Date.now() > quietFrom)
    throw new Error(`the subscriptions were open too late: this machine needs a lower --count`);
  await sleep(quietFrom - Date.now());
  const without = await checkouts({ holdfast, sandbox }, load.checkouts, `${round}-without`, until(dueAt - 1_000));
  await sleep(dueAt - Date.now());
  let billedAll = false;
  const watching = untilBilled(references.length, dueAt).then(() => (billedAll = true));
  const withBurst = await checkouts({ holdfast, sandbox }, load.checkouts, `${round}-with`, () => billedAll);
  await watching;
  const { sentences, billedAt } = wronglyBilled({ references, dueAt }, await sandbox.ledger());
  const billed = [0, 50, 100].map((p) => (percentile(billedAt, p) - dueAt) / 1_000);
  const show = ({ p50, p99 }: Measured): string => `p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms`;
  const [first, half, last] = billed.map((s) => `${s.toFixed(0)} s`);
  console.log(
    `round ${round + 1}: ${without.count} checkouts without (${show(without)}), ${withBurst.count} with (${show(withBurst)}); ` +
      `billed ${first} to ${last} after the due minute began, half of them by ${half}`,
  );
  return { figures: { without, with: withBurst, billed }, violations: sentences };
}

/** Only counts charges. `wronglyBilled` checks the ledger in detail afterwards. */
async function untilBilled(subscriptions: number, dueAt: number): Promise<void> {
  const charges = async (): Promise<number> =>
    (await sandbox.ledger()).filter(({ reconciliation_id: id, created }) => {
      return id?.startsWith('bench-') === true && Number(created) >= dueAt;
    }).length;
  while (Date.now() < dueAt + LIMIT_MS && (await charges()) < subscriptions) await sleep(3_000);
}

async function report(found: readonly Round[]): Promise<void> {
  const middle = (of: (round: Round) => number): number => median(found.map(of));
  const row = (name: string, of: (round: Round) => Measured): string[] => [
    name,
    middle((round) => of(round).p50).toFixed(0),
    middle((round) => of(round).p99).toFixed(0),
  ];
  const times = (percentileOf: 'p50' | 'p99'): number =>
    middle((round) => round.with[percentileOf] / round.without[percentileOf]);
  console.log(
    `\n${count} subscriptions due in the same minute, spread over ${jitter} s, ${rate} calls per second; ` +
      `${load.checkouts} checkouts per second; medians of ${rounds} rounds\n`,
  );
  console.log(
    table([
      ['checkouts', 'p50 ms', 'p99 ms'],
      row('without the burst', (round) => round.without),
      row('with it', (round) => round.with),
      ['times', times('p50').toFixed(2), times('p99').toFixed(2)],
    ]),
  );
  const met = times('p99') <= TARGET ? 'met' : 'missed';
  console.log(
    `target: p99 within ${TARGET} times, ${met}; the last bill left ${lastBill(found)} s after the minute began`,
  );
  const cost = await costOfPeriod(temporal, `typical-${rounds - 1}`);
  if (cost === undefined) throw new Error('the subscription whose cost was to be counted has not gone on');
  const { subscription, payment } = cost;
  console.log('\none billed period costs');
  console.log(
    table([
      ['', 'events', 'billable actions'],
      ['its run of the subscription', String(subscription.events), String(subscription.actions)],
      ['its payment', String(payment.events), String(payment.actions)],
      ['both', String(subscription.events + payment.events), String(subscription.actions + payment.actions)],
    ]),
  );
}

function lastBill(found: readonly Round[]): string {
  return median(found.map(({ billed }) => billed.at(-1) ?? Number.NaN)).toFixed(0);
}
