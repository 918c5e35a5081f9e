import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { processIdentity } from '../../src/cli/process-identity.js';
import { parseArguments } from '../../tools/chaos/arguments.js';
import type { LedgerEntry } from '../../tools/audit/ledger.js';
import { newPaymentRecord, type PaymentRecord } from '../../tools/audit/payment-record.js';
import { findingsOf } from '../../tools/chaos/findings.js';
import { planKills } from '../../tools/chaos/plan.js';
import { scenariosOf } from '../../tools/chaos/scenarios/scenarios.js';
import {
  summaryLines,
  violations,
  type Evidence,
  LOOKS_FOREIGN,
  WebhookCounts,
  withoutLooksForeign,
} from '../../tools/chaos/summary.js';
import { readRunFile } from '../../tools/stack/run-file.js';
import type { FinalOutcome, Outcome } from '../../src/contract/messages.js';
import { SandboxControl } from '../../sandbox/control.js';
import { atFullCounts } from '../support/at-full-counts.js';
import { ALL_IS_WELL, countsOf, numbersOf, startChaos, verdictOf } from '../support/chaos-command.js';
import { until } from '../support/until.js';
import { temporaryFolder } from '../support/temporary-folder.js';

function faultsOf(args: readonly string[]): string {
  try {
    return JSON.stringify(parseArguments(args));
  } catch (error) {
    return (error as Error).message;
  }
}

describe('the arguments of npm run chaos', () => {
  test('have defaults, and minutes may be fractions', () => {
    expect(parseArguments([])).toMatchObject({
      until: { ms: 60_000 },
      concurrency: 16,
      flows: 'mixed',
      profiles: 'all',
    });
    expect(parseArguments(['--minutes', '0.2', '--seed=7', '--concurrency', '4', '--profiles', 'default'])).toEqual({
      until: { ms: 12_000 },
      concurrency: 4,
      seed: 7,
      flows: 'mixed',
      profiles: 'default',
    });
    expect(parseArguments(['--flows', 'charge'])).toMatchObject({ flows: 'charge' });
    expect(parseArguments(['--count', '1000']).until).toEqual({ count: 1_000 });
  });

  test.each([
    [['--minutes', '0'], '--minutes is "0": give a number of minutes above 0 and at most 1440, such as 5 or 0.2.'],
    [['--minutes', '-1'], '--minutes is "-1": give a number'],
    [['--minutes', '0x10'], '--minutes is "0x10": give a number'],
    [['--minutes='], '--minutes is "": give a number'],
    [['--minutes'], "option '--minutes <number>' argument missing"],
    [['--count', '1.5'], '--count is "1.5": give a whole number from 1 to 1000000.'],
    [['--concurrency', '257'], '--concurrency is "257": give a whole number from 1 to 256.'],
    [['--seed', '4294967296'], '--seed is "4294967296": give a whole number from 0 to 4294967295.'],
    [['--seed', '1', '--seed', '2'], '--seed is given twice.'],
    [['--profiles', 'some'], '--profiles is "some": give one of default, all.'],
    [['--profiles'], "option '--profiles <which>' argument missing"],
    [['--flows', 'refund'], '--flows is "refund": give one of charge, mixed.'],
    [['--forever'], "unknown option '--forever'"],
    [['5'], "unknown argument '5'"],
    [['--minutes', '1', '--count', '1'], "option '--count <number>' cannot be used with option '--minutes <number>'"],
  ])('%j: the fault is named', (args, sentence) => {
    expect(faultsOf(args)).toContain(sentence);
  });

  test('have all their faults named at once', () => {
    const text = faultsOf(['--minutes', 'five', '--speed', '--seed', 'x']);
    for (const fault of ['--minutes is "five"', "unknown option '--speed'", '--seed is "x"'])
      expect(text).toContain(fault);
  });
});

describe('the plan of kills', () => {
  test('is the same for the same seed and another for another', () => {
    const until_ = { ms: 300_000 };
    expect(planKills({ until: until_, seed: 7, flows: 'mixed' })).toEqual(
      planKills({ until: until_, seed: 7, flows: 'mixed' }),
    );
    expect(planKills({ until: until_, seed: 7, flows: 'mixed' })).not.toEqual(
      planKills({ until: until_, seed: 8, flows: 'mixed' }),
    );
  });

  test('kills the worker five times at least and the server once, however few flows it has', () => {
    const { worker, temporal, webhook } = planKills({ until: { count: 10 }, seed: 1, flows: 'charge' });
    expect([worker.length, temporal.length, webhook.length]).toEqual([5, 1, 1]);
  });
});

const PROFILES = [{ name: 'default' }, { name: 'lagging-lists' }];

/** A charge whose caller was told this. */
function charge(reference: string, status: Outcome['status']): PaymentRecord {
  const known = { reference, amount: 1_000, currency: 'USD' };
  const paymentId = `p-${reference}`;
  const answer = { ...known, paymentId, transactionId: 't1', status } as Outcome;
  return {
    ...newPaymentRecord({ ...known, number: 1, scenario: 'charge with any card', profile: 'default' }),
    operations: [{ what: 'charge', expected: 'any', answer }],
    paymentId,
    ...(status !== 'unknown' && { outcome: answer as FinalOutcome }),
  };
}
const entry = (reference: string, id: string): LedgerEntry => ({
  kind: 'charge',
  payment_id: `p-${reference}`,
  transaction_id: id,
  amount: 1_000,
  currency: 'USD',
  status: 'Succeed',
  idempotency_key: 'key',
  reconciliation_id: reference,
  created: '0',
});
function evidenceOf(records: PaymentRecord[], ledger: LedgerEntry[], more: Partial<Evidence> = {}): Evidence {
  return {
    seed: 1,
    concurrency: 1,
    loadedForMs: 1,
    settledForMs: 1,
    findings: findingsOf(records, ledger, { units: PROFILES, scenarios: scenariosOf('charge') }),
    ledger,
    faults: [],
    kills: { worker: 0, temporal: 0, webhook: 0 },
    endedByThemselves: 0,
    events: { created: 0, unacknowledged: [], counts: new Map() },
    flows: { open: [], problems: [], lostTasks: 0, firstTasksAgain: 0 },
    ...more,
  };
}

describe('the verdict', () => {
  test('is one line when every promise held', () => {
    expect(summaryLines(evidenceOf([charge('a', 'succeeded')], [entry('a', 't1')])).at(-1)).toBe(ALL_IS_WELL);
  });

  test('comes after how many flows each profile of the service was asked for, and how they ended', () => {
    const text = summaryLines(evidenceOf([charge('a', 'succeeded')], [entry('a', 't1')])).join('\n');
    expect([numbersOf(text)('default'), numbersOf(text)('lagging-lists')]).toEqual([1, 0]);
    expect(countsOf(text, 'charge with any card')).toEqual({ succeeded: 1 });
  });

  test('names a reference whose money moved twice, with its lines of the ledger', () => {
    const records = [charge('fine', 'succeeded'), charge('twice', 'succeeded')];
    const ledger = [entry('fine', 't1'), entry('twice', 't1'), entry('twice', 't2')];
    const text = summaryLines(evidenceOf(records, ledger)).join('\n');
    expect(text).toMatch(/^ {2}twice: money moved 2 times /m);
    expect(text).toMatch(/ledger: .* charge t1 Succeed over 1000 USD, payment p-twice, key key/);
    expect(text).toMatch(/ledger: .* charge t2 Succeed/);
    expect(text).not.toMatch(/fine:/);
    expect(text).not.toContain(ALL_IS_WELL);
  });

  test.each<[string, Evidence, string]>([
    ['an unknown charge', evidenceOf([charge('a', 'unknown')], []), 'a: charge is still unknown'],
    [
      'money nobody asked for',
      evidenceOf([charge('a', 'succeeded')], [entry('a', 't1'), entry('b', 't9')]),
      'b: nobody',
    ],
    [
      'an open flow',
      evidenceOf([charge('a', 'succeeded')], [entry('a', 't1')], {
        flows: {
          open: ['payment-a: the flow is still open. It waits.'],
          problems: [],
          lostTasks: 0,
          firstTasksAgain: 0,
        },
      }),
      'payment-a: the flow is still open',
    ],
    [
      'a flow whose tasks fail',
      evidenceOf([charge('a', 'succeeded')], [entry('a', 't1')], {
        flows: { open: [], problems: ['payment-a: workflow tasks failed'], lostTasks: 0, firstTasksAgain: 0 },
      }),
      'payment-a: workflow tasks failed',
    ],
    [
      'an event nobody took',
      evidenceOf([charge('a', 'succeeded')], [entry('a', 't1')], {
        events: { created: 1, unacknowledged: [], counts: new Map([['unrouted', 1]]) },
      }),
      'the webhook handler counted 1 events as unrouted',
    ],
    ['nothing at all', evidenceOf([], []), 'nothing was asked for, so nothing is proven'],
  ])('is not good with %s', (_what, evidence, sentence) => {
    expect(violations(evidence)).toContainEqual(expect.stringContaining(sentence));
  });
});

test('events that look foreign count as lost but for those whose service does not say that a payment is ours', () => {
  const counts = new Map([
    ['delivered', 9],
    ['foreign', 5],
  ]);
  expect(withoutLooksForeign(counts, 3)).toEqual(
    new Map([
      ['delivered', 9],
      ['foreign', 2],
      [LOOKS_FOREIGN, 3],
    ]),
  );
  expect([...withoutLooksForeign(counts, 7)]).toEqual([
    ['delivered', 9],
    [LOOKS_FOREIGN, 5],
  ]);
  const evidence = evidenceOf([charge('a', 'succeeded')], [entry('a', 't1')], {
    events: { created: 14, unacknowledged: [], counts: withoutLooksForeign(counts, 5) },
  });
  expect(violations(evidence)).toEqual([]);
});

test('a reason that no request was refused for is not counted, though the handler shows it', async () => {
  const metrics = [
    'holdfast_webhook_events_total{type="payment.charge.create",version="1.3.0",result="delivered"} 12',
    'holdfast_webhook_rejected_total{reason="shape"} 0',
    'holdfast_webhook_rejected_total{reason="badDigest"} 2',
  ];
  const counts = await new WebhookCounts(`data:,${encodeURIComponent(metrics.join('\n'))}`).all();
  expect([...counts]).toEqual([
    ['delivered', 12],
    ['refused (badDigest)', 2],
  ]);
});

/** The stack of the command that writes below `folder`, once it has booted. */
async function stackOf(folder: string) {
  const find = () => {
    const [name] = readdirSync(folder).filter((entryName) => entryName.startsWith('holdfast-chaos-'));
    return Promise.resolve(name === undefined ? undefined : readRunFile(join(folder, name)));
  };
  const file = await until(find, (found) => found?.state === 'ready');
  if (file?.sandbox === undefined) throw new Error('there is no stack');
  return { file, sandbox: new SandboxControl(file.sandbox.url) };
}

/** One by which no process dies in the first seconds: a dead worker's tasks would be waited for. */
function quietSeed(): number {
  let seed = 0;
  const firstKill = (): number =>
    Math.min(...Object.values(planKills({ until: { ms: 600_000 }, seed, flows: 'charge' })).map(first));
  const first = (kills: readonly { at: number }[]): number => (kills[0]?.at ?? 1) * 600_000;
  while (firstKill() < 9_000) seed += 1;
  return seed;
}

const QUIET = ['--flows', 'charge', '--minutes', '10', '--concurrency', '4'] as const;

atFullCounts(
  'Ctrl-C ends the faults, brings what was asked for to its end, and prints the summary',
  async () => {
    const folder = temporaryFolder();
    const chaos = startChaos([...QUIET, '--seed', String(quietSeed())], folder);
    const { file, sandbox } = await stackOf(folder);
    await until(
      () => sandbox.ledger(),
      (ledger) => ledger.length > 0,
    );
    // A terminal sends the signal to the whole group.
    process.kill(-(chaos.child.pid ?? 0), 'SIGINT');

    const { code } = await chaos.ended;
    expect(chaos.output()).toContain('Stopping: no more faults and flows');
    expect(verdictOf(chaos.output())).toBe(ALL_IS_WELL);
    expect(code).toBe(0);
    const of = numbersOf(chaos.output());
    expect(of('flows asked for')).toBeGreaterThan(0);
    const {
      succeeded = 0,
      declined = 0,
      notExecuted = 0,
      ...others
    } = countsOf(chaos.output(), 'charge with any card');
    expect(others).toEqual({});
    expect(succeeded + declined + notExecuted).toBe(of('flows asked for'));
    expect(of('ended by themselves')).toBe(0);
    expect(file.processes.filter(({ pid, identity }) => processIdentity(pid) === identity)).toEqual([]);
  },
  120_000,
);
