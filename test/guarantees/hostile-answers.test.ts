import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FaultInput } from '../../sandbox/control.js';
import { flowProblems, untilNoneIsOpen } from '../support/flow-health.js';
import { auditCharges } from '../../tools/audit/audit-charges.js';
import { startStack, type TestStack } from '../support/stack.js';
import { askAgainForOpen, askForAll } from '../support/ask-charges.js';
import { fullOr, mixedCharges } from '../support/counts.js';

const COUNT = fullOr(100, 48);
const CONCURRENCY = 16;

const FAULTS: readonly FaultInput[] = [
  { action: 'status', status: 503, probability: 0.1 },
  { action: 'garbage', probability: 0.1 },
  { action: 'garbage', method: 'POST', after: true, probability: 0.05 },
  { action: 'refuse', probability: 0.1 },
  { action: 'status', status: 429, retry_after_s: 1, probability: 0.1 },
  { action: 'drop_reply', method: 'POST', probability: 0.05 },
  { action: 'lose_event', probability: 0.2 },
  { action: 'repeat_event', probability: 0.3 },
  { action: 'delay_event', delay_ms: 700, probability: 0.3 },
];

let stack: TestStack;
beforeAll(async () => {
  stack = await startStack({ pendingMs: 1_000 });
});
afterAll(async () => {
  await stack?.close();
});

describe('charges while the service answers 503, 429, garbage or not at all, and events are lost, repeated and late', () => {
  test('all end as the ledger says, each with one transaction and at most one movement', async () => {
    const inputs = await mixedCharges(stack.sandbox, COUNT, 'hostile');
    const planted: string[] = [];
    for (const fault of FAULTS) planted.push((await stack.sandbox.addFault(fault)).id);

    const during = await askForAll(stack.holdfast, inputs, { concurrency: CONCURRENCY, limitMs: 3_000 });
    const faults = (await stack.sandbox.faults()).filter(({ id }) => planted.includes(id));
    const fired = faults.map((fault) => fault.fired);
    for (const id of planted) await stack.sandbox.removeFault(id);
    const asked = await askAgainForOpen(stack.holdfast, during, { concurrency: COUNT, limitMs: 100_000 });

    expect(auditCharges(asked, await stack.sandbox.ledger())).toEqual([]);
    expect((await stack.sandbox.health()).payments).toBe(COUNT);
    // Else nothing was attacked.
    expect(fired).toHaveLength(FAULTS.length);
    expect(fired).not.toContain(0);
  }, 240_000);

  test('leave no flow open, and none whose tasks fail', async () => {
    await untilNoneIsOpen(stack.temporal);
    expect(await flowProblems(stack.temporal)).toEqual([]);
  });
});
