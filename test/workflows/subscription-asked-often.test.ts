import { afterAll, beforeAll, expect } from 'vitest';
import { atFullCounts } from '../support/at-full-counts.js';
import { sharedStack, type TestStack } from '../support/stack.js';
import { dailyInput, subscriptionOn } from '../support/stack-subscriptions.js';

/** Of more than this many updates of one run the server takes none. */
const MOST_UPDATES = 2_000;
const AT_ONCE = 8;

let stack: TestStack;
beforeAll(async () => {
  stack = await sharedStack({ pendingMs: 3_600_000, webhook: false });
});
afterAll(async () => {
  await stack?.close();
});

// Half a minute of questions.
atFullCounts(
  'a subscription that is asked more often than one run can answer still takes commands',
  async () => {
    const input = await dailyInput(stack, 30, { interval: { every: 1, unit: 'year' } });
    const flow = subscriptionOn(stack, input);
    for (let asked = 0; asked < MOST_UPDATES + 100; asked += AT_ONCE) {
      const answers = Array.from({ length: AT_ONCE }, () => stack.holdfast.subscribe(input));
      for (const { status } of await Promise.all(answers)) expect(status).toBe('active');
    }
    expect(await stack.holdfast.subscription.pause(input.reference)).toMatchObject({ status: 'paused' });
    expect(await stack.holdfast.subscription.cancel(input.reference, { when: 'now' })).toMatchObject({
      status: 'cancelled',
    });
    expect(await flow.ended()).toMatchObject({ billedPeriods: 0 });
  },
  240_000,
);
