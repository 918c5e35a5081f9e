import { WorkflowClient } from '@temporalio/client';
import type { TestWorkflowEnvironment } from '@temporalio/testing';

const SECOND_MS = 1_000;
const MONTH_MS = 31 * 24 * 3_600_000;

/**
 * Lets time pass in growing steps while a result is awaited. Left to itself the engine goes on to the next thing that is
 * due once a flow has ended, if only for a moment: its run time-out, ten years ahead. After a few flows a test file would
 * live in another century.
 */
export function awaitInSmallSteps(environment: TestWorkflowEnvironment): void {
  const { workflow } = environment.client;
  // That of the class above lets all the time pass that it can.
  const result = WorkflowClient.prototype.result.bind(workflow) as (typeof workflow)['result'];
  workflow.result = async (...asked) => {
    let ended = false;
    const awaited = result(...asked).finally(() => (ended = true));
    awaited.catch(() => undefined);
    for (let step = SECOND_MS; !ended; step = Math.min(2 * step, MONTH_MS)) await environment.sleep(step);
    return await awaited;
  };
}
