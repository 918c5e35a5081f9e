import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import workerThreads from 'node:worker_threads';
import { afterEach, describe, expect, test } from 'vitest';
import { loopedFlows, noteLoopedFlow } from '../../workers/threads/looped-flows.js';
import { type FlowOfThread, ThreadNotes } from '../../workers/threads/thread-notes.js';
import { watchThreads } from '../../workers/threads/watch-threads.js';

const FLOW: FlowOfThread = { workflowId: 'payment-wörter-1', runId: 'a-b', workflowType: 'charge' };

describe('what a workflow thread tells of the code that runs', () => {
  const memory = ThreadNotes.memory();
  const [inThread, inMain] = [new ThreadNotes(memory), new ThreadNotes(memory)];

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
    for (const flow of [FLOW, short, undefined, FLOW]) {
      inThread.enter(flow);
      expect(inMain.flow()).toEqual(flow);
      inThread.leave();
    }
  });
});

test('with an SDK that was not tried, threads start as shipped', () => {
  const { Worker } = workerThreads;
  const options = { callStacks: false, limited: [], onEndlessLoop: () => undefined };
  expect(watchThreads({ ...options, version: '99.0.0' })).toEqual({ untried: '99.0.0' });
  expect(workerThreads.Worker).toBe(Worker);
});

describe('flows that have looped', () => {
  const dir = mkdtempSync(join(tmpdir(), 'holdfast-test-'));
  afterEach(() => rmSync(dir, { recursive: true, force: true }));

  test('are none at first', () => {
    expect(loopedFlows(dir)).toEqual([]);
  });

  test('are kept for the next process, each once, the latest last', () => {
    for (const workflowId of ['a', 'b', 'a']) noteLoopedFlow(dir, workflowId);
    expect(loopedFlows(dir)).toEqual(['b', 'a']);
    for (let number = 0; number < 100; number += 1) noteLoopedFlow(dir, `c${number}`);
    expect(loopedFlows(dir)).toHaveLength(100);
    expect(loopedFlows(dir).at(-1)).toBe('c99');
  });

  test('do not keep a worker from starting if their file is broken', () => {
    noteLoopedFlow(dir, 'a');
    const path = join(dir, 'looped-flows.json');
    writeFileSync(path, readFileSync(path, 'utf8').slice(0, 3));
    expect(loopedFlows(dir)).toEqual([]);
  });
});
