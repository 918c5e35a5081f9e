import type { TestWorkflowEnvironment } from '@temporalio/testing';
import type { SandboxControl } from '../../sandbox/control.js';

/** The sandbox's clock is moved in steps of at least this. */
const STEP_MS = 1_000;

/** The engine's clock for code that can't wait for an answer, and the sandbox's moved along with it. */
export function followClock(environment: TestWorkflowEnvironment, sandbox: SandboxControl) {
  let aheadMs = 0;
  let sandboxAheadMs = 0;
  let adjusting = Promise.resolve();
  async function once(): Promise<void> {
    aheadMs = Math.round((await environment.currentTimeMs()) - Date.now());
    const step = aheadMs - sandboxAheadMs;
    if (step < STEP_MS) return;
    sandboxAheadMs = aheadMs;
    await sandbox.advanceClock(step);
  }
  async function adjust(): Promise<void> {
    adjusting = adjusting.then(once);
    await adjusting;
  }
  return {
    now: () => Date.now() + aheadMs,
    adjust,
    /** Before every activity, which is enough: while one runs the engine skips nothing. */
    async adjustThen<Answer>(run: () => Promise<Answer>): Promise<Answer> {
      await adjust();
      return await run();
    },
  };
}
