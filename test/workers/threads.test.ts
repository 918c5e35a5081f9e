import { mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import workerThreads from 'node:worker_threads';
import { afterAll, describe, expect, test } from 'vitest';
import { createLogger } from '../../src/security/logging.js';
import { hasLoopedLately, noteLoop } from '../../workers/threads/looped-lately.js';
import { type FlowOfThread, ThreadRecord } from '../../workers/threads/thread-record.js';
import { watchThreads } from '../../workers/threads/watch-threads.js';

const FLOW: FlowOfThread = { workflowId: 'payment-wörter-1', runId: 'a-b', workflowType: 'charge' };

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
    const short = { workflowId: 'p', runId: 'r', workflowType: 'credit' };
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

  test('ends the process in order also where no file can be written', () => {
    writeFileSync(join(dir, 'a-file'), '');
    const below = join(dir, 'a-file', 'state');
    expect(hasLoopedLately(join(dir, 'missing'))).toBe(false);
    noteLoop(below, logger);
  });
});
