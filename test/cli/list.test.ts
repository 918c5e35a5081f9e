import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { defineSearchAttributeKey, type SearchAttributePair, SearchAttributeType } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import type { FlowRow } from '../../src/cli/flow-row.js';
import { testDataConverter } from '../support/data-converter.js';
import { claimNamespace, temporalAddress } from '../support/temporal.js';
import { until } from '../support/until.js';
import { environmentOf, holdfast } from './command.js';

// No worker runs here: that list needs none is what all these tests show.
let connection: Connection;
let client: Client;
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  connection = await Connection.connect({ address: await temporalAddress() });
  const namespace = await claimNamespace();
  client = new Client({ connection, namespace, dataConverter: testDataConverter() });
  env = await environmentOf(namespace);
  await start('payment-waits', 'charge', { PaymentStatus: 'pending', WaitingFor: 'settlement', DueAt: FUTURE });
  await start('payment-late', 'authorizeAndCapture', { PaymentStatus: 'pending', DueAt: PAST, BusinessUnit: "shop's" });
  await start('payment-parked', 'charge', { PaymentStatus: 'unknown', WaitingFor: 'operator', NeedsOperator: true });
  await start('payment-dead', 'credit', { PaymentStatus: 'started' });
  await client.workflow.getHandle('payment-dead').terminate('wrong button');
  await start('payment-actions-9c1d', 'paymentActions', { PaymentStatus: 'succeeded', PaymentId: '9c1d' });
  await start('risk-order-1', 'analyseRisk', {});
  await start('some-sweep', 'aTypeOfLater', {});
  await client.workflow.start('charge', { workflowId: 'payment-of-others', taskQueue: 'their-queue' });
  // Two runs of one id: what the first one says of itself is not true of the flow any more.
  await start('payment-again', 'charge', { PaymentStatus: 'unknown', NeedsOperator: true });
  await client.workflow.getHandle('payment-again').terminate();
  await start('payment-again', 'charge', { PaymentStatus: 'started' });
  await until(
    () => list(),
    (rows) => rows.length === 8 && rows.some(({ execution }) => execution === 'terminated'),
  );
});
afterAll(async () => {
  await connection?.close();
});

const FUTURE = new Date(Date.now() + 3_600_000);
const PAST = new Date(Date.now() - 3_600_000);

async function start(workflowId: string, type: string, values: Record<string, string | boolean | Date>): Promise<void> {
  const pairs = Object.entries({ Currency: 'USD', ...values }).map(([name, value]): SearchAttributePair => {
    if (typeof value === 'boolean') return { key: defineSearchAttributeKey(name, SearchAttributeType.BOOL), value };
    if (typeof value === 'string') return { key: defineSearchAttributeKey(name, SearchAttributeType.KEYWORD), value };
    return { key: defineSearchAttributeKey(name, SearchAttributeType.DATETIME), value };
  });
  await client.workflow.start(type, {
    workflowId,
    taskQueue: 'holdfast-billing',
    memo: { encrypted: 'nobody needs it' },
    typedSearchAttributes: [
      ...pairs,
      { key: defineSearchAttributeKey('AmountMinor', SearchAttributeType.INT), value: 1095 },
    ],
  });
}

async function list(...args: string[]): Promise<FlowRow[]> {
  // Without keys: what list shows is stored in clear.
  const { HOLDFAST_ENCRYPTION_KEYS: _keys, ...keyless } = env;
  const { code, out, err } = await holdfast(keyless, ['list', '--json', ...args]);
  if (code !== 0) throw new Error(err);
  return JSON.parse(out) as FlowRow[];
}

const ids = async (...args: string[]): Promise<string[]> => (await list(...args)).map(({ workflowId }) => workflowId);

describe('holdfast list', () => {
  test('shows flows of every type, each once, open ones first, and none that is not ours', async () => {
    const found = await ids();
    expect(found).toEqual([
      'payment-again',
      'some-sweep',
      'risk-order-1',
      'payment-actions-9c1d',
      'payment-parked',
      'payment-late',
      'payment-waits',
      'payment-dead',
    ]);
  });

  test('gives scripts the same fields of every flow, null where nothing is known', async () => {
    const rows = await list();
    expect(rows.find(({ workflowId }) => workflowId === 'payment-waits')).toEqual({
      reference: 'waits',
      workflowId: 'payment-waits',
      type: 'charge',
      status: 'pending',
      waitingFor: 'settlement',
      since: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      dueAt: FUTURE.toISOString(),
      execution: 'running',
      needsOperator: false,
      overdue: false,
      amount: 1095,
      currency: 'USD',
    });
    expect(rows.find(({ workflowId }) => workflowId === 'some-sweep')).toMatchObject({
      reference: 'some-sweep',
      status: null,
      waitingFor: null,
      dueAt: null,
    });
    expect(rows.map(({ reference }) => reference)).toEqual(expect.arrayContaining(['order-1', '9c1d']));
  });

  test('--stuck shows what needs an operator, is past due or was terminated, and nothing else', async () => {
    expect((await ids('--stuck')).toSorted()).toEqual(['payment-dead', 'payment-late', 'payment-parked']);
  });

  test.each([
    [
      ['--status', 'pending'],
      ['payment-late', 'payment-waits'],
    ],
    [
      ['--status', 'unknown', '--status', 'succeeded'],
      ['payment-actions-9c1d', 'payment-parked'],
    ],
    [['--waiting-for', 'settlement'], ['payment-waits']],
    [['--business-unit', "shop's"], ['payment-late']],
    [
      ['--stuck', '--open'],
      ['payment-parked', 'payment-late'],
    ],
    [['--business-unit', "x' OR PaymentStatus = 'pending"], []],
  ])('%j narrows it down', async (args, expected) => {
    expect(await ids(...args)).toEqual(expected);
  });

  test('--limit leaves the rest out, and says so', async () => {
    const { out, err } = await holdfast(env, ['list', '--json', '--limit', '2']);
    expect(JSON.parse(out)).toHaveLength(2);
    expect(err).toContain('There are more than these 2');
  });

  test('shows people a table with what makes them look', async () => {
    const { out } = await holdfast(env, ['list']);
    expect(out.split('\n')[0]).toMatch(/^REFERENCE +TYPE +STATUS +WAITING FOR +SINCE \(UTC\) +DUE AT \(UTC\) +AMOUNT$/);
    expect(out).toMatch(/^late +authorizeAndCapture +pending +- .* 10\.95 USD +past due$/m);
    expect(out).toMatch(/^parked +charge +unknown +operator .* needs an operator$/m);
    expect(out).toMatch(/^dead +credit +started .* terminated: nobody follows it$/m);
  });

  test('says where it looked when nothing matches', async () => {
    const { code, out, err } = await holdfast(env, ['list', '--status', 'declined']);
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(err).toContain(`in namespace "${env['TEMPORAL_NAMESPACE']}"`);
  });
});

describe('holdfast export', () => {
  test('writes what has ended, each run once, says where the next one begins, and needs the keys', async () => {
    const file = join(temporaryFolder(), 'export.jsonl');
    const until = new Date().toISOString();
    const asked = ['export', file, '--since', PAST.toISOString(), '--until', until];
    const { code, out, err } = await holdfast(env, asked);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/: 2 runs that ended from .*, SHA-256 [0-9a-f]{64}\. Next: --since /);
    expect(out).toContain(`Next: --since ${until}`);
    const lines = readFileSync(file, 'utf8').trim().split('\n');
    expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
      { workflowId: 'payment-dead', type: 'credit', commands: [{ name: 'terminate', why: 'wrong button' }] },
      { workflowId: 'payment-again', execution: 'TERMINATED', commands: [{ name: 'terminate' }] },
    ]);
    expect(await holdfast(env, asked)).toMatchObject({ code: 1, err: expect.stringContaining('exists already') });
    const keyless = { ...env, HOLDFAST_ENCRYPTION_KEYS: '' };
    expect(await holdfast(keyless, asked)).toMatchObject({ code: 1, err: expect.stringContaining('is not set') });
  });
});
