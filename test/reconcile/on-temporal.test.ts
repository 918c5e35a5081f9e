import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ListedFinding } from '../../src/cli/findings.js';
import type { ReconcileReport } from '../../src/contract/reconcile.js';
import { environmentOf, holdfast } from '../cli/command.js';
import { fullOr } from '../support/counts.js';
import { startStack, type TestStack } from '../support/stack.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { abandoned, plant, trade } from './shop.js';

const PAYMENTS = fullOr(10_000, 100);
const EACH = fullOr(50, 5);
const LIMIT_MS = 1_800_000;

let stack: TestStack;
let env: NodeJS.ProcessEnv;
let references: string[];
const folder = mkdtempSync(join(tmpdir(), 'holdfast-statements-'));
beforeAll(async () => {
  stack = await startStack({
    real: true,
    billing: true,
    webhook: false,
    workerEnv: { HOLDFAST_STATEMENTS_FOLDER: folder },
  });
  env = await environmentOf(stack.namespace);
  references = await trade(stack, PAYMENTS);
}, LIMIT_MS);
afterAll(async () => {
  await stack?.close();
  rmSync(folder, { recursive: true });
});

const named = (findings: readonly { kind: string; subject: string }[]): string[] =>
  findings.map(({ kind, subject }) => `${kind} ${subject}`).toSorted();
const printed = async <Answer>(code: number, ...args: string[]): Promise<Answer> => {
  const ran = await holdfast(env, [...args, '--json']);
  if (ran.code !== code) throw new Error(`exit code ${ran.code}: ${ran.err}`);
  return JSON.parse(ran.out) as Answer;
};
/** Visibility may be a moment behind. */
const listed = async (count: number): Promise<ListedFinding[]> =>
  await until(
    () => printed<ListedFinding[]>(0, 'reconcile', 'list', '--limit', '10000'),
    (findings) => findings.length >= count,
  );

describe(`of ${PAYMENTS} payments`, () => {
  let planted: string[];

  test('a statement without a difference has none', async () => {
    const file = join(temporaryFolder(), 'service.csv');
    writeFileSync(file, await stack.sandbox.statement({ format: 'csv' }));
    expect(await holdfast(env, ['reconcile', '--statement', file, '--window', '1 second'])).toMatchObject({
      code: 0,
      out: 'No difference.\n',
    });
  }, 600_000);

  test(
    `all ${8 * EACH} differences of every kind are found, and none is invented`,
    async () => {
      const made = await plant(stack, references, EACH);
      planted = made.planted.toSorted();
      const file = join(temporaryFolder(), 'statement.jsonl');
      writeFileSync(file, made.statement);
      const asked = ['reconcile', '--statement', file, '--window', '2 seconds'];
      const found = await printed<(ListedFinding & { isFresh: boolean })[]>(1, ...asked);
      expect(named(found)).toEqual(planted);
      expect(found.every(({ isFresh }) => isFresh)).toBe(true);
      expect(named(await listed(planted.length))).toEqual(planted);
      const again = await printed<(ListedFinding & { isFresh: boolean })[]>(1, ...asked);
      expect(again.filter(({ isFresh }) => isFresh)).toEqual([]);
    },
    LIMIT_MS,
  );

  test('each is listed, explained, and acknowledged with who and why', async () => {
    const [first] = await listed(planted.length);
    const id = first?.id ?? '';
    const { out } = await holdfast(env, ['reconcile', 'list', '--kind', first?.kind ?? '']);
    expect(out).toContain(id);
    expect(out).toContain(first?.explanation);
    expect((await holdfast(env, ['explain', `finding-${id}`])).out).toContain(first?.explanation);
    const ack = ['reconcile', 'ack', '--who', 'Ada', '--why', 'ticket 4711'];
    const acknowledged = await holdfast(env, [...ack, first?.subject ?? '']);
    expect(acknowledged).toMatchObject({ code: 0, err: '' });
    expect(acknowledged.out).toMatch(/acknowledged by Ada at .* UTC: ticket 4711$/m);
    expect(await holdfast(env, [...ack, 'nobody-knows'])).toMatchObject({ code: 1 });
    await until(
      () => printed<ListedFinding[]>(0, 'reconcile', 'list', '--limit', '10000'),
      (findings) => findings.every((one) => one.id !== id),
    );
    const upTo = new Date(Date.now() + 60_000).toISOString();
    const left = planted.filter((one) => one.startsWith('late')).length - (first?.kind === 'late' ? 1 : 0);
    const ofLate = ['--all', '--kind', 'late', '--until', upTo, '--count', String(left)];
    const late = await holdfast(env, [...ack, ...ofLate]);
    expect(late.out.match(/acknowledged by Ada/g)).toHaveLength(left);
  }, 120_000);

  test(
    'workers ask about what is in doubt, and match what lies in their folder; a file with a fault is refused whole',
    async () => {
      const { transactionId } = await abandoned(stack);
      writeFileSync(join(folder, 'good.jsonl'), await stack.sandbox.statement());
      writeFileSync(join(folder, 'torn.csv'), 'kind,amount\ncharge,1.5');
      // What was just stopped is listed.
      await until(
        () => stack.temporal.workflow.count('ExecutionStatus = "Terminated"'),
        ({ count }) => count > EACH,
      );
      const report = await printed<ReconcileReport>(1, 'reconcile', '--sample', '0', '--rate', '100');
      expect(report).toMatchObject({ status: 'reconciled', unanswered: 0, statements: [{ name: 'good.jsonl' }] });
      expect(report.refusedStatements).toEqual([
        { name: 'torn.csv', faults: expect.arrayContaining([expect.stringMatching(/^line 2: amount must be/)]) },
      ]);
      expect(report.found.moneyWithoutFlow).toBeGreaterThan(EACH);
      expect((await listed(1)).map(({ id }) => id)).toContain(`moneyWithoutFlow-${transactionId}`);
    },
    LIMIT_MS,
  );

  test(
    'the schedule that setup makes, once, runs the same without an input',
    async () => {
      for (const expected of ['made schedule holdfast-reconcile', 'nothing was to be changed'])
        expect((await holdfast(env, ['setup'])).out).toContain(expected);
      const schedule = stack.temporal.schedule.getHandle('holdfast-reconcile');
      await schedule.trigger();
      const { info } = await until(
        () => schedule.describe(),
        (described) => described.info.recentActions.length > 0,
      );
      const { workflowId = '' } = info.recentActions[0]?.action.workflow ?? {};
      expect(workflowId).toMatch(/^reconcile-\d{4}-/);
      const report = (await stack.temporal.workflow.getHandle(workflowId).result()) as ReconcileReport;
      expect(report).toMatchObject({ status: 'reconciled', statements: [{ name: 'good.jsonl' }], fresh: 0 });
      expect((await holdfast(env, ['explain', workflowId])).out).toContain('It moves no money.');
    },
    LIMIT_MS,
  );
});
