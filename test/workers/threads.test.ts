import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import workerThreads from 'node:worker_threads';
import type { Worker } from '@temporalio/worker';
import { afterAll, afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createLogger } from '../../src/security/logging.js';
import { endAfterLoop } from '../../workers/threads/end-after-loop.js';
import { hasLoopedLately, noteLoop } from '../../workers/threads/looped-lately.js';
import { type FlowOfThread, ThreadRecord } from '../../workers/threads/thread-record.js';
import { watchThreads } from '../../workers/threads/watch-threads.js';

const FLOW: FlowOfThread = {
  workflowId: 'payment-wörter-1',
  runId: 'a-b',
  workflowType: 'charge',
  taskQueue: 'holdfast-payments',
};

describe('what a workflow thread tells of the code that runs', () => {
  const memory = ThreadRecord.memory();
  const [inThread, inMain] = [new ThreadRecord(memory), new ThreadRecord(memory)];

  test('nothing between two calls, and another number for each', () => {
    expect(inMain.running()).toBeUndefined();
    inThread.enter(FLOW);
    const first = inMain.running();
    expect(first).toEqual(expect.any(Number));
    expect(inMain.running()).toBe(first);
    inThread.leave();
    expect(inMain.running()).toBeUndefined();
    inThread.enter(FLOW);
    expect(inMain.running()).not.toBe(first);
    expect(inMain.flow()).toEqual(FLOW);
    inThread.leave();
  });

  test('the flow of the present call, also where the one before had a longer name', () => {
    const short = { workflowId: 'p', runId: 'r', workflowType: 'credit', taskQueue: 'q' };
    for (const flow of [FLOW, short, FLOW]) {
      inThread.enter(flow);
      expect(inMain.flow()).toEqual(flow);
      inThread.leave();
    }
  });
});

test('with an SDK that was not tried, threads start as shipped', () => {
  const { Worker } = workerThreads;
  const options = { callStacks: false, limited: false, onEndlessLoop: () => undefined };
  expect(watchThreads({ ...options, version: '99.0.0' })).toEqual({ untried: '99.0.0' });
  expect(workerThreads.Worker).toBe(Worker);
});

describe('an endless loop', () => {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
  const logger = createLogger({ name: 'worker', level: 'silent' });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  test('is known to the next process for an hour', () => {
    expect(hasLoopedLately(dir)).toBe(false);
    noteLoop(dir, logger);
    expect(hasLoopedLately(dir)).toBe(true);
    const hourAgo = Date.now() / 1000 - 3_601;
    utimesSync(join(dir, 'endless-loop'), hourAgo, hourAgo);
    expect(hasLoopedLately(dir)).toBe(false);
  });

  describe('ends the process', () => {
    beforeEach(() => {
      vi.useFakeTimers();
    });
    afterEach(() => {
      vi.useRealTimers();
    });

    /** @param calls of each queue's worker, which a test changes */
    const ending = (calls: Record<string, { regular: number; local: number }>) => {
      const stopped: string[] = [];
      const workers = Object.entries(calls).map(([taskQueue, count]) => ({
        options: { taskQueue },
        getState: () => (stopped.includes(taskQueue) ? 'STOPPING' : 'RUNNING'),
        shutdown: () => void stopped.push(taskQueue),
        getStatus: () => ({
          numInFlightNonLocalActivities: count.regular,
          numInFlightActivities: count.regular + count.local,
        }),
      }));
      const loop = endAfterLoop(logger, 60_000);
      loop.ends(workers as unknown as Worker[]);
      let ended: string | undefined;
      loop.ended.catch((error: Error) => (ended = error.message));
      loop.found(FLOW);
      return { stopped, ended: () => ended };
    };
    const [PAYMENTS, BILLING] = ['holdfast-payments', 'holdfast-billing'] as const;

    test('at once where nothing is under way, and names the flow; no worker takes anything new', async () => {
      const { stopped, ended } = ending({
        [PAYMENTS]: { regular: 0, local: 3 },
        [BILLING]: { regular: 0, local: 0 },
      });
      expect(stopped).toEqual([PAYMENTS, BILLING]);
      await vi.advanceTimersByTimeAsync(1_500);
      expect(ended()).toContain('flow "payment-wörter-1" (charge)');
    });

    test.each([
      ['regular ones of the worker that loops', PAYMENTS, 'regular'],
      ['regular ones of another worker', BILLING, 'regular'],
      ['first tries of another worker, whose thread can take their answers', BILLING, 'local'],
    ] as const)('only once the calls under way have ended: %s', async (_which, queue, kind) => {
      const calls = { [PAYMENTS]: { regular: 0, local: 3 }, [BILLING]: { regular: 0, local: 0 } };
      calls[queue]![kind] += 1;
      const { ended } = ending(calls);
      await vi.advanceTimersByTimeAsync(50_000);
      expect(ended()).toBeUndefined();
      calls[queue]![kind] -= 1;
      await vi.advanceTimersByTimeAsync(1_500);
      expect(ended()).toBeDefined();
    });

    test('after the time that a stop may take, whatever is under way', async () => {
      const { ended } = ending({ [PAYMENTS]: { regular: 1, local: 0 } });
      await vi.advanceTimersByTimeAsync(61_000);
      expect(ended()).toBeDefined();
    });
  });

  test('ends the process in order also where no file can be written', () => {
    writeFileSync(join(dir, 'a-file'), '');
    const below = join(dir, 'a-file', 'state');
    expect(hasLoopedLately(join(dir, 'missing'))).toBe(false);
    noteLoop(below, logger);
  });
});
