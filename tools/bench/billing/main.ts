/**
 * Measures checkouts and commands to other subscriptions with and without subscriptions that all come due in the same
 * minute, by turns, in one run on one server. Exits with 1 if a subscription was billed twice or not at all.
 * Arguments: `--count <n>` subscriptions per burst (default 2000), `--rounds <n>` (1: it takes 20 minutes),
 * `--checkouts <n>` per second (5), `--seconds <n>` without a burst in each round (180), `--jitter <n>` seconds (720),
 * `--rate <n>` calls per second of the billing queue (10, the default). `--full`: 10000 within an hour, the jitter that
 * subscriptions have by default, which are as many per second.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { HoldfastError } from '../../../src/client/errors.js';
import { paymentWorkflowId } from '../../../src/contract/names.js';
import type { ReadyProcess } from '../../stack/ready-process.js';
import { startBenchStack } from '../support/bench-stack.js';
import { median, numbersOf, percentile, percentilesOf, runAtRate, table } from '../support/stats.js';
import { checkouts, type Measured } from './checkouts.js';
import {
  type Burst,
  costOfPeriod,
  openBurst,
  openTypical,
  referenceOf,
  storeCards,
  wronglyBilled,
} from './subscriptions.js';

const TARGET = 1.5;
const MINUTE_MS = 60_000;
const WARM = 200;
/** A bill is two calls. */
const CALLS = 2;
const COMMANDS_PER_SECOND = 0.5;
/** Calls per second while subscriptions are opened, which is not measured. */
const OPENING_RATE = 1_000;

const isFull = process.argv.includes('--full');
process.argv = process.argv.filter((arg) => arg !== '--full');
const { count, rounds, seconds, jitter, rate, ...load } = numbersOf({
  count: isFull ? 10_000 : 2_000,
  rounds: 1,
  checkouts: 5,
  seconds: 180,
  jitter: isFull ? 3_600 : 720,
  rate: 10,
});

/** If a burst takes longer than this after its due time, a bill was lost. */
const limitMs = 2 * Math.max(10 * MINUTE_MS, jitter * 1_000, (count * CALLS * 1_000) / rate);

interface Leg {
  checkouts: Measured;
  commands: Measured;
}

interface Round {
  without: Leg;
  with: Leg;
  /** What the billing queue asked of the service in the burst. */
  calls: { posts: number; reads: number; failed: number };
  /** Seconds after the due time at which the first, the median and the last subscription were billed. */
  billed: readonly number[];
}

const stack = await startBenchStack(['billing']);
const { sandbox } = stack;
const { temporal, holdfast } = await stack.connect();
const calls = { posts: 0, reads: 0, failed: 0 };
/** Commands that had no answer in time, and were given again. */
let stalled = 0;
const front = await stack.front(async ({ method }, response, pass) => {
  calls[method === 'GET' ? 'reads' : 'posts'] += 1;
  await pass();
  calls.failed += response.statusCode < 400 ? 0 : 1;
});
await startWorker('payments', { HOLDFAST_API_BASE_URL: stack.sandboxUrl });
let billing = await startBilling(OPENING_RATE);
try {
  const cards = await storeCards(sandbox, stack.sandboxUrl, count);
  await checkouts({ holdfast, sandbox }, load.checkouts, 'warm', until(Date.now() + 10_000));
  const perSecond = await openingRate(cards);
  const measured: Round[] = [];
  const violations: string[] = [];
  for (let round = 0; round < rounds; round += 1) {
    if (round > 0) {
      await billing.kill();
      billing = await startBilling(OPENING_RATE);
    }
    const [card] = cards;
    const needed = (count / perSecond) * 1_300 + (seconds + 10) * 1_000;
    const dueAt = Math.ceil((Date.now() + needed) / MINUTE_MS) * MINUTE_MS;
    if (card !== undefined) await openTypical(holdfast, card, `typical-${round}`, dueAt);
    const burst = await openBurst(holdfast, cards, { count, round, dueAt, jitterMs: jitter * 1_000 });
    await billing.kill();
    billing = await startBilling(rate);
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

async function startWorker(queues: string, env: Readonly<Record<string, string>>): Promise<ReadyProcess> {
  return await stack.start('workers/worker.js', { env: { HOLDFAST_TASK_QUEUES: queues, ...env } });
}

async function startBilling(perSecond: number): Promise<ReadyProcess> {
  const limit = { HOLDFAST_BILLING_CALLS_PER_SECOND: String(perSecond) };
  return await startWorker('billing', { HOLDFAST_API_BASE_URL: front, ...limit });
}

function until(epochMs: number): () => boolean {
  return () => Date.now() >= epochMs;
}

/** Subscriptions opened per second, from which a burst's due time is set. Those opened here get commands, and no bill. */
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
  const without = await leg(`${round}-without`, until(dueAt - 1_000));
  await sleep(dueAt - Date.now());
  let billedAll = false;
  Object.assign(calls, { posts: 0, reads: 0, failed: 0 });
  const watching = untilBilled(references.length, round, dueAt).then(() => (billedAll = true));
  const withBurst = await leg(`${round}-with`, () => billedAll);
  await watching;
  const { sentences, billedAt } = wronglyBilled({ references, dueAt }, await sandbox.ledger());
  const billed = [0, 50, 100].map((p) => (percentile(billedAt, p) - dueAt) / 1_000);
  const show = ({ checkouts: { count: n, p50, p99 } }: Leg): string =>
    `${n} checkouts (p50 ${p50.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms)`;
  const [first, half, last] = billed.map((s) => `${s.toFixed(0)} s`);
  console.log(
    `round ${round + 1}: without ${show(without)}, with ${show(withBurst)}; ` +
      `billed ${first} to ${last} after the due minute began, half of them by ${half}`,
  );
  return { figures: { without, with: withBurst, calls: { ...calls }, billed }, violations: sentences };
}

async function leg(label: string, isOver: () => boolean): Promise<Leg> {
  const commanding = runAtRate(
    COMMANDS_PER_SECOND,
    () => !isOver(),
    async (index) => {
      const request = { metadata: { command: `${label}-${index}` }, commandId: `${label}-${index}` };
      const command = () => holdfast.subscription.changeTerms(referenceOf(rounds, index % WARM), request);
      await command().catch(async (error: unknown) => {
        if (!(error instanceof HoldfastError) || !error.askAgain) throw error;
        stalled += 1;
        await command();
      });
    },
  );
  const paid = await checkouts({ holdfast, sandbox }, load.checkouts, label, isOver);
  const took = await commanding;
  return { checkouts: paid, commands: { count: took.length, ...percentilesOf(took) } };
}

/**
 * Counts payments that have ended once as many calls as all need have left: of many flows the server's count takes so
 * long that checkouts would wait for it. `wronglyBilled` checks the ledger in detail afterwards.
 */
async function untilBilled(subscriptions: number, round: number, dueAt: number): Promise<void> {
  const ended = `WorkflowId STARTS_WITH "${paymentWorkflowId(referenceOf(round))}" AND ExecutionStatus = "Completed"`;
  const count = async (): Promise<number> => (await temporal.workflow.count(ended)).count;
  const isLate = (): boolean => Date.now() >= dueAt + limitMs;
  while (!isLate() && calls.posts < subscriptions * CALLS) await sleep(1_000);
  while (!isLate() && (await count()) < subscriptions) await sleep(3_000);
}

async function report(found: readonly Round[]): Promise<void> {
  const middle = (of: (round: Round) => number): number => median(found.map(of));
  const kinds = ['checkouts', 'commands'] as const;
  const row = (name: string, of: (round: Round) => Leg): string[] => [
    name,
    ...kinds.flatMap((kind) => [
      middle((round) => of(round)[kind].p50).toFixed(0),
      middle((round) => of(round)[kind].p99).toFixed(0),
    ]),
  ];
  const times = (kind: 'checkouts' | 'commands', percentileOf: 'p50' | 'p99'): number =>
    middle((round) => round.with[kind][percentileOf] / round.without[kind][percentileOf]);
  console.log(
    `\n${count} subscriptions due in the same minute, spread over ${jitter} s, ${rate} calls per second; ` +
      `${load.checkouts} checkouts per second; medians of ${rounds} rounds\n`,
  );
  console.log(
    table([
      ['', 'checkout p50 ms', 'p99 ms', 'command p50 ms', 'p99 ms'],
      row('without the burst', (round) => round.without),
      row('with it', (round) => round.with),
      ['times', ...kinds.flatMap((kind) => [times(kind, 'p50').toFixed(2), times(kind, 'p99').toFixed(2)])],
    ]),
  );
  const met = times('checkouts', 'p99') <= TARGET ? 'met' : 'missed';
  console.log(
    `target: p99 of checkouts within ${TARGET} times, ${met}; the last bill left ${lastBill(found)} s after the minute began`,
  );
  for (const { calls: of } of found)
    console.log(`the burst sent ${of.posts} POSTs and ${of.reads} reads; ${of.failed} of them failed`);
  console.log(`commands that had no answer in time: ${stalled}`);
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
