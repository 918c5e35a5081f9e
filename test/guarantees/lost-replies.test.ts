import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { flowProblems, untilNoneIsOpen } from '../support/flow-health.js';
import { auditCharges } from '../../tools/audit/audit-charges.js';
import { startStack, type TestStack } from '../support/stack.js';
import { askAgainForOpen, askForAll } from '../support/ask-charges.js';
import { mixedCharges } from '../support/counts.js';

const COUNT = 100;
const CONCURRENCY = 16;

let stack: TestStack;
beforeAll(async () => {
  stack = await startStack({ pendingMs: 1_000 });
});
afterAll(async () => {
  await stack?.close();
});

describe('charges while a fifth of all replies is lost after the service has acted', () => {
  test('all end as the ledger says, each with one transaction and at most one movement', async () => {
    const inputs = await mixedCharges(stack.sandbox, COUNT, 'lost');
    const { id } = await stack.sandbox.addFault({ action: 'drop_reply', method: 'POST', probability: 0.2 });

    const during = await askForAll(stack.holdfast, inputs, { concurrency: CONCURRENCY, limitMs: 2_000 });
    const fault = (await stack.sandbox.faults()).find((planted) => planted.id === id);
    await stack.sandbox.removeFault(id);
    const asked = await askAgainForOpen(stack.holdfast, during, { concurrency: CONCURRENCY, limitMs: 60_000 });

    expect(auditCharges(asked, await stack.sandbox.ledger())).toEqual([]);
    expect((await stack.sandbox.health()).payments).toBe(COUNT);
    // Else nothing was attacked.
    expect(fault?.fired).toBeGreaterThan(COUNT / 10);
  }, 120_000);

  test('leave no flow open, and none whose tasks fail', async () => {
    await untilNoneIsOpen(stack.temporal);
    expect(await flowProblems(stack.temporal)).toEqual([]);
  });
});
