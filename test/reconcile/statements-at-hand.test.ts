import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { describe, expect, test } from 'vitest';
import { createReconcileActivities, type GivenStatement, type ReconcileDeps } from '../../activities/reconcile.js';
import type { FlowFacts, MatchedStatements } from '../../src/contract/reconcile.js';
import { sinceTheLast } from '../../src/domain/reconcile/since.js';
import { statementsIn } from '../../workers/statements.js';
import { DAY, flow, iso, NOTHING, NOW, portOf } from './in-memory-port.js';
import { sealedCalls } from '../support/sealed-calls.js';

describe('statements that lie ready', () => {
  const since = NOW - DAY;
  const lines = (from: number, until: number, transactionId: string): string =>
    [
      JSON.stringify({ covers: `${iso(from)},${iso(until)}` }),
      JSON.stringify({
        kind: 'charge',
        transaction_id: transactionId,
        amount: 500,
        currency: 'USD',
        created: iso(from),
      }),
    ].join('\n');
  const matched = async (from: number, until: number, changed: number, flows: FlowFacts[] = []) =>
    await matchedOf([{ name: 'a.jsonl', text: lines(from, until, 'tx-9'), changed }], flows);
  const matchedOf = async (given: GivenStatement[], flows: FlowFacts[] = [], again?: string[]) => {
    const statements = async () => given;
    const deps = { reconcile: portOf(flows), statements } as unknown as ReconcileDeps;
    const activities = sealedCalls(createReconcileActivities(deps));
    return await new MockActivityEnvironment().run(() =>
      activities.matchStatements({ since, now: NOW, windowMs: DAY, ...(again && { again }) }),
    );
  };

  test('are matched where they came late: an acquirer’s is put down days after its time', async () => {
    expect(await matched(NOW - 20 * DAY, NOW - 10 * DAY, NOW - DAY / 2)).toMatchObject({
      found: { moneyWithoutFlow: 1 },
      statements: [{ name: 'a.jsonl' }],
    });
  });

  test('are matched as long as their time reaches into that of the reconciliation, whenever they came', async () => {
    expect(await matched(NOW - 3 * DAY, NOW - DAY / 2, NOW - 2 * DAY)).toMatchObject({ fresh: 1 });
  });

  test('are left alone once they were matched, and not called refused when the namespace has forgotten their time', async () => {
    const nothing = { statements: [], refusedStatements: [], fresh: 0 };
    expect(await matched(NOW - 20 * DAY, NOW - 10 * DAY, NOW - 9 * DAY)).toMatchObject(nothing);
    expect(await matched(NOW - 800 * DAY, NOW - 700 * DAY, NOW - 699 * DAY)).toMatchObject(nothing);
    const refused = [{ name: 'a.jsonl', faults: [expect.stringMatching(/^line 1: covers: begins at/)] }];
    expect(await matched(NOW - 800 * DAY, NOW - DAY / 2, NOW)).toMatchObject({ refusedStatements: refused });
  });

  test('are refused while a flow of their time can not be read: its money would be called that of nobody', async () => {
    const flows = [flow({ closedAt: NOW, result: undefined, unreadable: 'its result needs key k1' })];
    expect(await matched(NOW - 3 * DAY, NOW - DAY / 2, NOW, flows)).toMatchObject({
      found: NOTHING,
      refusedStatements: [{ name: 'a.jsonl', faults: [expect.stringMatching(/^its result needs key k1; put it/)] }],
    });
  });

  test('came when they were put down, whatever time a copy has kept', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-put-down-'));
    const begun = Date.now();
    writeFileSync(join(folder, 'a.csv'), 'kind');
    utimesSync(join(folder, 'a.csv'), 1, 1);
    const [one] = (await statementsIn(folder)?.()) ?? [];
    rmSync(folder, { recursive: true });
    expect(one).toMatchObject({ name: 'a.csv', text: 'kind' });
    expect(one?.changed).toBeGreaterThan(begun - 1_000);
  });

  test('are read whatever the case of their names, and any other file is named as refused, once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-put-down-'));
    for (const name of ['JANUARY.CSV', 'june.csv.gz', '.july.csv']) writeFileSync(join(folder, name), 'kind');
    mkdirSync(join(folder, 'matched'));
    const given = (await statementsIn(folder)?.()) ?? [];
    rmSync(folder, { recursive: true });
    const fault = expect.stringContaining('is neither .jsonl nor .csv') as string;
    expect(given).toMatchObject([
      { name: 'JANUARY.CSV', text: 'kind' },
      { name: 'june.csv.gz', fault },
    ]);
    const [, other] = given;
    const put = (changed: number) => matchedOf([{ ...other, changed } as GivenStatement]);
    expect(await put(NOW)).toMatchObject({ refusedStatements: [{ name: 'june.csv.gz', faults: [fault] }] });
    expect(await put(since)).toMatchObject({ statements: [], refusedStatements: [] });
  });

  test('are matched although others beside them can not be read, each of which is named', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-put-down-'));
    mkdirSync(join(folder, 'a.csv'));
    symlinkSync(join(folder, 'nowhere'), join(folder, 'b.csv'));
    writeFileSync(join(folder, 'c.jsonl'), lines(NOW - 3 * DAY, NOW - DAY / 2, 'tx-9'));
    const given = (await statementsIn(folder)?.()) ?? [];
    rmSync(folder, { recursive: true });
    expect(given.map(({ changed }) => changed > Date.now() - 60_000)).toEqual([true, true, true]);
    expect(await matchedOf(given.map((each) => ({ ...each, changed: NOW })))).toMatchObject({
      statements: [{ name: 'c.jsonl' }],
      refusedStatements: [
        { name: 'a.csv', faults: [expect.stringContaining('is no file')] },
        { name: 'b.csv', faults: [expect.stringMatching(/^can't be read: ENOENT/)] },
      ],
    });
  });

  test('are matched by the next reconciliation where the one before could not read them, however old they are', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-put-down-'));
    writeFileSync(join(folder, 'a.jsonl'), lines(NOW - 20 * DAY, NOW - 10 * DAY, 'tx-9'));
    // As of a disk or a mount that is away for a moment.
    const failing = async (): Promise<string> => await Promise.reject(new Error('EIO: i/o error, read'));
    const first = (await statementsIn(folder, failing)?.()) ?? [];
    const second = ((await statementsIn(folder)?.()) ?? []).map((each) => ({ ...each, changed: NOW - 9 * DAY }));
    rmSync(folder, { recursive: true });
    const named = (await matchedOf(first.map((each) => ({ ...each, changed: NOW })))) as MatchedStatements;
    const { refusedStatements } = named;
    const fault = expect.stringMatching(/^can't be read: EIO/) as string;
    expect(refusedStatements).toEqual([{ name: 'a.jsonl', faults: [fault], unread: true }]);
    const { statementsAgain } = sinceTheLast({ until: iso(since), refusedStatements }, NOW);
    expect(await matchedOf(second, [], statementsAgain)).toMatchObject({
      found: { moneyWithoutFlow: 1 },
      statements: [{ name: 'a.jsonl' }],
    });
    expect(await matchedOf(second)).toMatchObject({ statements: [], refusedStatements: [] });
  });
});
