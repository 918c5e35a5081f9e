import { expect, test } from 'vitest';
import type { NativeConnection, State } from '@temporalio/worker';
import { moveTo } from '../../workers/connect.js';

/** As the SDK's: without its native part it throws. */
class FakeWorker {
  moved = false;
  constructor(readonly state: State) {}
  getState(): State {
    return this.state;
  }
  set connection(_to: NativeConnection) {
    if (this.state === 'STOPPED' || this.state === 'FAILED') throw new Error('the worker has ended');
    this.moved = true;
  }
}

test('a renewed certificate is taken over by every worker that goes on, although others have ended', () => {
  const workers = (['STOPPED', 'FAILED', 'RUNNING', 'INITIALIZED'] as const).map((state) => new FakeWorker(state));
  moveTo({} as NativeConnection, workers);
  expect(workers.map(({ moved }) => moved)).toEqual([false, false, true, true]);
});
