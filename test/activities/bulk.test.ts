import { MockActivityEnvironment } from '@temporalio/testing';
import { afterEach, expect, test, vi } from 'vitest';
import { createBulkActivities } from '../../activities/bulk.js';
import type { BulkPort, BulkSlice, BulkTarget } from '../../src/contract/bulk.js';
import { MINUTE } from '../support/virtual-time.js';
import { sealedCalls } from '../support/sealed-calls.js';

afterEach(() => {
  vi.useRealTimers();
});

/** A unit of seven subscriptions, two of which are asked in one call. */
function unitOfSeven() {
  const targets = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((name): BulkTarget => ({
    workflowId: `subscription-${name}`,
    runId: 'r',
  }));
  const seen = { lists: 0, asked: [] as string[] };
  const bulk: BulkPort = {
    inputOf: async () => ({
      ...{ name: 'strike', businessUnit: 'default', action: { do: 'pause' }, rate: 100, who: 'Ada', why: 'a strike' },
    }),
    targets: async () => {
      seen.lists += 1;
      return targets;
    },
    command: async (_input, { workflowId }) => {
      seen.asked.push(workflowId.slice(-1));
      return { subscription: workflowId, result: 'done' };
    },
  };
  const activities = sealedCalls(createBulkActivities({ bulk, bulkSlice: 2 }));
  const slice = async (after?: string): Promise<BulkSlice> => {
    const call = { begun: 1, ...(after !== undefined && { after }) };
    return (await new MockActivityEnvironment().run(async () => await activities.bulkSlice(call))) as BulkSlice;
  };
  return { seen, slice };
}

test('the subscriptions of a unit are listed once for many calls, and again after ten minutes', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  const { seen, slice } = unitOfSeven();
  let last: string | undefined;
  for (const lists of [1, 1]) {
    ({ last } = await slice(last));
    expect(seen.lists).toBe(lists);
  }
  vi.setSystemTime(Date.now() + 10 * MINUTE);
  for (const lists of [2, 2]) {
    ({ last } = await slice(last));
    expect(seen.lists).toBe(lists);
  }
  expect(last).toBeUndefined();
  expect(seen.asked.join('')).toBe('abcdefg');
  // What a reset asks again begins again.
  await slice();
  await slice('subscription-b');
  await slice();
  expect(seen.lists).toBe(3);
  expect(seen.asked.join('')).toBe('abcdefgabcdab');
});
