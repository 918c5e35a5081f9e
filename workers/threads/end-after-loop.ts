import type { Worker } from '@temporalio/worker';
import type { Logger } from '../../src/security/logging.js';
import { StartFault } from '../process.js';
import type { FlowOfThread } from './thread-record.js';

const LOOK_EVERY_MS = 200;
/** ms. A call that has ended is not yet answered to the server. */
const ANSWERED_AFTER = 1_000;

/** Ends the process after an endless loop: no new tasks are taken, and calls under way may end first. */
interface EndAfterLoop {
  ends(workers: readonly Worker[]): void;
  found(flow: FlowOfThread): void;
  /** Rejects when the process has nothing left to do but to end. */
  readonly ended: Promise<never>;
}

/** @param withinMs how long calls under way may take */
export function endAfterLoop(logger: Logger, withinMs: number): EndAfterLoop {
  let workers: readonly Worker[] = [];
  let isEnding = false;
  let reject: (error: Error) => void = () => undefined;
  const ended = new Promise<never>((_, rejects) => (reject = rejects));
  // Without a loop nobody may ever listen.
  ended.catch(() => undefined);
  const end = async (flow: FlowOfThread): Promise<void> => {
    for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
    const until = Date.now() + withinMs;
    let last = Date.now();
    while (Date.now() < Math.min(until, last + ANSWERED_AFTER)) {
      await new Promise((next) => setTimeout(next, LOOK_EVERY_MS));
      if (workers.some((worker) => hasCalls(worker, flow))) last = Date.now();
    }
    reject(
      new StartFault(
        `Code of the flow "${flow.workflowId}" (${flow.workflowType}) did not come back for 5 s; its thread can do nothing else any more.`,
      ),
    );
  };
  return {
    ended,
    ends: (started) => void (workers = started),
    found(flow) {
      const { workflowId, runId, workflowType } = flow;
      logger.fatal(
        { workflowId, runId, workflowType },
        'Endless loop in the code of a flow; ending after the calls under way',
      );
      if (isEnding) return;
      isEnding = true;
      void end(flow);
    },
  };
}

function hasCalls(worker: Worker, { taskQueue }: FlowOfThread): boolean {
  const { numInFlightActivities, numInFlightNonLocalActivities } = worker.getStatus();
  // Each worker has a thread of its own. The answer of a local call needs it: where it loops, another process calls again
  // under the same key.
  return (worker.options.taskQueue === taskQueue ? numInFlightNonLocalActivities : numInFlightActivities) > 0;
}
