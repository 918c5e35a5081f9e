import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { flowProblems } from '../support/flow-health.js';
import { forEach } from '../support/for-each.js';
import { SILENT_UNIT } from '../support/reset-paths.js';
import { type Ending, type Operation, type Settled, SETTLING_PATHS, travel } from '../support/settling-paths.js';
import { startStack, type TestStack } from '../support/stack.js';
import { inTurn } from '../support/counts.js';

const OPERATIONS: readonly Operation[] = ['authorization', 'capture', 'void', 'refund', 'credit'];
const ENDINGS: readonly Ending[] = ['Succeed', 'Failed'];
const CASES = OPERATIONS.flatMap((operation) =>
  Object.entries(SETTLING_PATHS).flatMap(([name, path]) =>
    ENDINGS.map((ending) => ({ operation, name, path, ending })),
  ),
).filter((_, index) => inTurn(3)(index));

let stack: TestStack;
const journeys = new Map<(typeof CASES)[number], Promise<Settled>>();
beforeAll(async () => {
  stack = await startStack({ units: [SILENT_UNIT] });
  // Many at once: most of the time goes into waiting for a poll.
  await forEach(CASES, 24, async (one) => {
    const journey = travel(stack, one.operation, one.path, one.ending);
    journeys.set(one, journey);
    await Promise.allSettled([journey]);
  });
}, 180_000);
afterAll(async () => {
  await stack?.close();
});

describe.each(CASES)('$operation: one that $name', (one) => {
  test(`and ends ${one.ending} is told as it ended, is there once, and stays so`, async () => {
    const { operation, ending, path } = one;
    const settled = await journeys.get(one);
    const succeeded = operation === 'authorization' ? 'authorized' : 'succeeded';
    const { answer, again, entries = [], unmet } = settled ?? {};
    // Else nothing was tried.
    expect(unmet).toEqual([]);
    expect(entries.map(({ status }) => status)).toEqual([ending]);
    expect(answer).toMatchObject({
      status: ending === 'Succeed' ? succeeded : 'declined',
      transactionId: entries[0]?.transaction_id,
    });
    expect(again).toEqual(answer);
    // A hold goes on: how it is known is told with its end.
    if (answer?.status !== 'authorized') expect(path.knownBy).toContain(answer?.evidence?.knownBy);
  });
});

describe('all of them together', () => {
  test('are settled by events as well as by polls', async () => {
    const settled = await Promise.all(journeys.values());
    const ways = new Set(settled.map(({ answer }) => answer.evidence?.knownBy));
    expect([...ways]).toEqual(expect.arrayContaining(['webhook', 'poll']));
  });

  test('leave no flow whose tasks fail', async () => {
    expect(await flowProblems(stack.temporal)).toEqual([]);
  });
});
