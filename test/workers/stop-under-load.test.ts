import { afterAll, beforeAll, describe, expect } from 'vitest';
import { atFullCounts } from '../support/at-full-counts.js';
import { fullOr } from '../support/counts.js';
import { CARDS, chargeInput } from '../support/charges.js';
import { startStack, type TestStack } from '../support/stack.js';
import { until } from '../support/until.js';

/** Longer than the five seconds that an embedded worker waits. */
const SLOW_MS = 8_000;

let stack: TestStack;
beforeAll(async () => {
  if (fullOr(1, 0) === 0) return;
  stack = await startStack({ real: true, workerEnv: { HOLDFAST_STOP_SECONDS: '20' } });
}, 60_000);
afterAll(async () => {
  await stack?.close();
});

describe('a worker that is told to stop', () => {
  atFullCounts(
    'lets the call under way end, and the next worker tells of it without a second one',
    async () => {
      const input = await chargeInput(stack.sandbox);
      const slow = await stack.sandbox.addFault({
        action: 'delay',
        method: 'POST',
        path: '*/charges',
        delay_ms: SLOW_MS,
        reconciliation_id: input.reference,
      });
      const fired = async () => (await stack.sandbox.faults()).find(({ id }) => id === slow.id)?.fired ?? 0;
      const outcome = stack.holdfast.charge(input);
      await until(fired, (times) => times > 0);
      await stack.stopWorker();
      await stack.startWorker();
      expect(await outcome).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'reply' } });
      expect(await fired()).toBe(1);
      expect(await stack.sandbox.ledger(input.reference)).toHaveLength(1);
    },
    60_000,
  );
});

describe('the call stack of a flow', () => {
  const stackOf = async (): Promise<string> => {
    const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
    await stack.holdfast.charge(input, { waitFor: 0 });
    const { workflowId } = await stack.holdfast.status(input.reference);
    return await stack.temporal.workflow.getHandle(workflowId).query<string>('__stack_trace');
  };

  atFullCounts(
    'is not taken unless the worker is told to',
    async () => {
      expect(await stackOf()).toBe('');
      await stack.stopWorker();
      await stack.startWorker({ HOLDFAST_CALL_STACKS: 'on' });
      expect(await stackOf()).toMatch(/at .*charge/s);
    },
    60_000,
  );
});
