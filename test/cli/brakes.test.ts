import { Client } from '@temporalio/client';
import { expect } from 'vitest';
import { BRAKES_MEMO } from '../../src/contract/brakes.js';
import { PAYMENTS_TASK_QUEUE } from '../../src/contract/names.js';
import { NO_BRAKES } from '../../src/domain/brakes.js';
import { atFullCounts } from '../support/at-full-counts.js';
import { chargeInput } from '../support/charges.js';
import { startStack, type TestStack } from '../support/stack.js';
import { until } from '../support/until.js';
import { environmentOf, holdfast } from './command.js';

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
