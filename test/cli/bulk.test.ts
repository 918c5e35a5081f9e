import { expect } from 'vitest';
import { atFullCounts } from '../support/at-full-counts.js';
import { startStack } from '../support/stack.js';
import { dailyInput } from '../support/stack-subscriptions.js';
import { until } from '../support/until.js';
import { environmentOf, holdfast } from './command.js';

const NOTED = ['--who', 'Ada', '--why', 'a strike'];

atFullCounts(
  'a bulk on a real server pauses and moves what its query names, and says why it can not use a query',
  async () => {
    const stack = await startStack({ real: true, billing: true, webhook: false });
    try {
      const env = await environmentOf(stack.namespace);
      const bulk = async (...args: string[]) => await holdfast(env, ['subscriptions', 'bulk', ...args]);
      const begin = (action: string, name: string, ...more: string[]) =>
        bulk(action, '--unit', 'default', '--name', name, ...NOTED, ...more);
      const references: string[] = [];
      for (let at = 0; at < 4; at += 1) {
        const input = await dailyInput(stack, at, { interval: { every: 1, unit: 'month' } });
        await stack.holdfast.subscribe(input);
        references.push(input.reference);
      }
      const [left = '', ...chosen] = references;
      const query = ['--query', `WorkflowId != 'subscription-${left}' AND PaymentStatus = 'active'`];
      await until(
        async () => (await begin('pause', 'strike', ...query, '--dry-run')).out,
        (out) => out.startsWith('3 open subscriptions'),
        20_000,
      );
      expect((await begin('pause', 'strike', ...query, '--rate', '50')).code).toBe(0);
      const status = await until(
        async () => (await bulk('status', 'strike', '--json')).out,
        (out) => out.includes('"completed"'),
        30_000,
      );
      expect(JSON.parse(status)).toMatchObject({ done: 3, refused: 0, failed: 0 });
      const results = (await bulk('results', 'strike')).out.trim().split('\n');
      expect(results.map((line) => JSON.parse(line) as object)).toEqual(
        expect.arrayContaining(chosen.map((subscription) => ({ subscription, result: 'done' }))),
      );
      expect(await stack.holdfast.status({ workflowId: `subscription-${left}` })).toMatchObject({ status: 'active' });
      expect((await begin('move', 'onwards', '--rate', '50')).code).toBe(0);
      await until(
        async () => (await bulk('status', 'onwards')).out,
        (out) => out.includes('is over: 4 done'),
        30_000,
      );
      const wrong = await begin('pause', 'wrong', '--query', 'BusinessUnit ==');
      expect(wrong).toMatchObject({ code: 1, err: expect.stringContaining("--query can't be used") });
    } finally {
      await stack.close();
    }
  },
  180_000,
);
