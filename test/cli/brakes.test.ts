import { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import { BRAKES_MEMO } from '../../src/contract/brakes.js';
import { PAYMENTS_TASK_QUEUE } from '../../src/contract/names.js';
import { NO_BRAKES } from '../../src/domain/brakes.js';
import { atFullCounts } from '../support/at-full-counts.js';
import { chargeInput } from '../support/charges.js';
import { TEST_ENCRYPTION_KEYS } from '../support/data-converter.js';
import { startStack, type TestStack } from '../support/stack.js';
import { until } from '../support/until.js';
import { environmentOf, folderOfStack, holdfast } from './command.js';

const NOTED = ['--who', 'Ada', '--why', 'charges twice'];

async function braked({ worker }: TestStack): Promise<string | undefined> {
  const metrics = await (await fetch(worker().url)).text();
  return /^holdfast_unit_braked\{.*business_unit="default".*\} (\d)/m.exec(metrics)?.[1];
}

atFullCounts(
  'real workers know of a brake within 5 s, after a restart too, and stay ready',
  async () => {
    const stack = await startStack({ real: true, webhook: false });
    try {
      const env = await environmentOf(stack.namespace);
      const status = async () => (await stack.holdfast.charge(await chargeInput(stack.sandbox))).status;
      expect(await braked(stack)).toBe('0');
      expect(await status()).toBe('succeeded');
      const ran = await holdfast(env, ['brake', 'default', ...NOTED]);
      expect(ran).toMatchObject({
        code: 0,
        out: expect.stringContaining('by Ada: charges twice. It stops new payments'),
      });
      await until(
        () => braked(stack),
        (gauge) => gauge === '1',
        5_000,
      );
      expect(await status()).toBe('notExecuted');
      await stack.replaceWorker();
      expect(await status()).toBe('notExecuted');
      // Somebody without our keys begins them again without a brake.
      const { connection, options } = stack.temporal;
      const { workflow } = new Client({ connection, namespace: options.namespace });
      await workflow.getHandle('brakes').terminate();
      const inClear = { args: [NO_BRAKES], memo: { [BRAKES_MEMO]: NO_BRAKES } };
      await workflow.start('brakes', { workflowId: 'brakes', taskQueue: PAYMENTS_TASK_QUEUE, ...inClear });
      await stack.replaceWorker();
      expect(await status()).toBe('notExecuted');
      const ready = await fetch(stack.worker().url.replace('/metrics', '/ready'));
      expect(await ready.json()).toMatchObject({ status: 'ready' });
      const { braked: all } = JSON.parse((await holdfast(env, ['brakes', '--json'])).out) as {
        braked: { brakedAt: string }[];
      };
      const since = ['--since', all[0]?.brakedAt ?? ''];
      expect((await holdfast(env, ['release', 'default', ...since, ...NOTED])).code).toBe(0);
      await until(
        () => braked(stack),
        (gauge) => gauge === '0',
        5_000,
      );
      expect(await status()).toBe('succeeded');
      expect((await holdfast(env, ['list', '--json'])).out).not.toContain('"brakes"');
    } finally {
      await stack.close();
    }
  },
  120_000,
);

const LOCAL = { address: '127.0.0.1:1', namespace: 'default', uiUrl: 'http://ui.test' };

test.each([
  [['brake', 'default', ...NOTED]],
  [['release', 'default', '--since', '2027-01-31T00:00:00Z', ...NOTED]],
  [['approve', 'order-1', '--command', 'return-1', ...NOTED]],
  [['reject', 'order-1', '--command', 'return-1', ...NOTED]],
  [['redrive', 'orders.jsonl']],
  [['setup']],
  [['subscriptions', 'import', 'subscribers.jsonl']],
  [['subscriptions', 'bulk', 'pause', '--unit', 'default', '--name', 'strike', ...NOTED]],
  [['subscriptions', 'bulk', 'stop', 'strike']],
  [['deploy', 'drain', '--build', 'v1']],
  [['reconcile']],
  [['reconcile', 'ack', 'moneyTwice-12345678', ...NOTED]],
  [['notifications', 'resend', '--all']],
  [['events', 'replay', '3fa9c1d27b04']],
])('%j does nothing where variables name another Temporal than that of the npm start in this folder', async (args) => {
  const cwd = folderOfStack({ stack: { pid: process.pid }, temporal: LOCAL });
  const { code, out, err } = await holdfast({ TEMPORAL_ADDRESS: 'production.test:7233' }, args, { cwd, waitMs: 200 });
  expect({ code, out }).toEqual({ code: 1, out: '' });
  expect(err).toBe(
    'Nothing was done. An npm start runs in this folder (namespace "default" at 127.0.0.1:1), and the variables name another ' +
      'Temporal: TEMPORAL_ADDRESS=production.test:7233 (namespace "default" at production.test:7233). Run the command in ' +
      'another folder to mean that one, or without these variables to mean npm start.\n',
  );
});

test.each<[string, Record<string, string>, string[]]>([
  ['without variables', {}, ['brake', 'default', ...NOTED]],
  ['under another name of it', { TEMPORAL_ADDRESS: 'localhost:1' }, ['brake', 'default', ...NOTED]],
])('what is meant for the npm start in this folder is not refused, %s', async (_how, env, args) => {
  const cwd = folderOfStack({ stack: { pid: process.pid }, temporal: LOCAL });
  const { err } = await holdfast(env, args, { cwd, waitMs: 200 });
  expect(err).toMatch(/^Temporal does not answer at 127\.0\.0\.1:1 /);
});

test('nothing is refused for an npm start that is dead, where another process has got its id', async () => {
  const stack = { pid: process.pid, identity: 'utc:that of another process' };
  const cwd = folderOfStack({ stack, temporal: { ...LOCAL, address: '127.0.0.1:2' } });
  const variables = { TEMPORAL_ADDRESS: '127.0.0.1:1', HOLDFAST_ENCRYPTION_KEYS: TEST_ENCRYPTION_KEYS };
  const { err } = await holdfast(variables, ['brake', 'default', ...NOTED], { cwd, waitMs: 200 });
  expect(err).toMatch(/^Temporal does not answer at 127\.0\.0\.1:1 /);
});

test('a dry run changes nothing, and only names the other Temporal', async () => {
  const cwd = folderOfStack({ stack: { pid: process.pid }, temporal: LOCAL });
  const args = ['subscriptions', 'bulk', 'pause', '--unit', 'default', '--name', 'strike', ...NOTED, '--dry-run'];
  const { err } = await holdfast({ TEMPORAL_ADDRESS: 'production.test:7233' }, args, { cwd, waitMs: 200 });
  expect(err).not.toContain('Nothing was done');
});
