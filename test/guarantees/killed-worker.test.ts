import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { countEvents, flowProblems, untilNoneIsOpen } from '../support/flow-health.js';
import { auditCharges } from '../../tools/audit/audit-charges.js';
import { seededRandom } from '../support/seeded.js';
import { startStack, type TestStack } from '../support/stack.js';
import { askAgainForOpen, askForAll } from '../support/ask-charges.js';
import { fullOr, mixedCharges } from '../support/counts.js';
import { until } from '../support/until.js';

const COUNT = fullOr(100, 48);
const CONCURRENCY = 16;
const KILLS = 5;
/** A moment within what a charge takes, so that every step of one is hit in turn over many runs. */
const WITHIN_A_CHARGE_MS = 250;

let stack: TestStack;
beforeAll(async () => {
  stack = await startStack({ pendingMs: 1_000 });
});
afterAll(async () => {
  await stack?.close();
});

describe('charges while the worker dies five times and a fifth of all replies is lost', () => {
  test('all end as the ledger says, each with one transaction and at most one movement', async () => {
    const inputs = await mixedCharges(stack.sandbox, COUNT, 'killed');
    const { id } = await stack.sandbox.addFault({ action: 'drop_reply', method: 'POST', probability: 0.2 });

    let begun = 0;
    const random = seededRandom();
    const calls = askForAll(stack.holdfast, inputs, {
      concurrency: CONCURRENCY,
      limitMs: 3_000,
      onBegin: (count) => (begun = count),
    });
    for (let kill = 1; kill <= KILLS; kill += 1) {
      const share = CONCURRENCY + ((COUNT - CONCURRENCY) * (kill - 1)) / KILLS;
      await until(
        () => Promise.resolve(begun),
        (count) => count >= share,
        60_000,
      );
      await sleep(random() * WITHIN_A_CHARGE_MS);
      await stack.replaceWorker();
    }
    const during = await calls;
    await stack.sandbox.removeFault(id);
    const asked = await askAgainForOpen(stack.holdfast, during, { concurrency: COUNT, limitMs: 100_000 });

    expect(auditCharges(asked, await stack.sandbox.ledger())).toEqual([]);
    expect((await stack.sandbox.health()).payments).toBe(COUNT);
  }, 240_000);

  test('leave no flow open, and none whose tasks fail', async () => {
    await untilNoneIsOpen(stack.temporal);
    expect(await flowProblems(stack.temporal)).toEqual([]);
    // A task that was lost with its worker is one that the kills have hit; without any, nothing was attacked.
    expect(await countEvents(stack.temporal, 'EVENT_TYPE_WORKFLOW_TASK_TIMED_OUT')).toBeGreaterThan(0);
  });
});
