import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { EnginePort } from '../contract/activities.js';
import { FIRST_TASK_MAX_EVENTS } from '../contract/first-task.js';
import { createBillingPort } from './billing-port.js';
import { createEventSink } from './event-sink.js';
import { paymentOfHistory } from './payment-of-history.js';

/** Resets make runs; more than this under one id is no payment any more. */
const MAX_RUNS = 50;

/** What activities may ask of the engine, over an ordinary Temporal client. */
export function createEnginePort(client: Client): EnginePort {
  const { namespace } = client.options;
  const sink = createEventSink(client, { identity: 'holdfast-parked-event' });

  /** Every other run under the id, newest first. Visibility lags a little; that is why it is only one of several guards. */
  async function otherRuns(workflowId: string, ownRunId?: string): Promise<string[]> {
    const runs: string[] = [];
    for await (const run of client.workflow.list({ query: `WorkflowId = "${workflowId}"` })) {
      if (run.runId !== ownRunId) runs.push(run.runId);
      if (runs.length >= MAX_RUNS) break;
    }
    return runs;
  }

  /** What a reset (same original run) and a continue-as-new (same first run) have in common with the run they follow. */
  async function originsOf(workflowId: string, runId: string): Promise<{ original?: string; first?: string }> {
    const page = await client.workflowService.getWorkflowExecutionHistory({
      namespace,
      execution: { workflowId, runId },
      maximumPageSize: 1,
    });
    const started = page.history?.events?.[0]?.workflowExecutionStartedEventAttributes;
    return {
      ...(started?.originalExecutionRunId != null && { original: started.originalExecutionRunId }),
      ...(started?.firstExecutionRunId != null && { first: started.firstExecutionRunId }),
    };
  }

  return {
    ...createBillingPort(client),
    deliver: (workflowId, event) => sink.deliver(workflowId, event),
    endedFlow: (workflowId) => sink.endedFlow(workflowId),
    flowOfPayment: (paymentId) => sink.flowOfPayment(paymentId),

    async earlierRun(workflowId, ownRunId) {
      const own = await originsOf(workflowId, ownRunId);
      for (const runId of await otherRuns(workflowId, ownRunId)) {
        // A reset copies the start event: a run with our original id is this same flow, not another one. So is one
        // that our first run was continued by, before a reset brought us back to it.
        const { original, first } = await originsOf(workflowId, runId);
        if (original !== own.original && first !== own.first) return runId;
      }
      return undefined;
    },

    async earlierPayment(workflowId, ownRunId, key) {
      for (const runId of await otherRuns(workflowId, ownRunId)) {
        const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
        const payment = await paymentOfHistory(history, client.options.loadedDataConverter, key);
        if (payment !== undefined) return payment;
      }
      return undefined;
    },

    async taskWasLost(workflowId, runId) {
      const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
      return (events ?? []).some(
        (event) => event.workflowTaskTimedOutEventAttributes != null || event.workflowTaskFailedEventAttributes != null,
      );
    },

    async latestResult(workflowId, ownRunId) {
      let incomplete = false;
      for (const runId of await otherRuns(workflowId, ownRunId)) {
        const handle = client.workflow.getHandle(workflowId, runId);
        // A run that was reset or terminated left nothing; the one before it may have.
        const { status, type } = await handle.describe();
        if (status.name === 'COMPLETED') return { result: await handle.result(), workflowType: type, incomplete };
        incomplete ||= status.name !== 'RUNNING' && status.name !== 'CONTINUED_AS_NEW';
      }
      return { result: undefined, incomplete };
    },

    async isOpen(workflowId) {
      try {
        return (await client.workflow.getHandle(workflowId).describe()).status.name === 'RUNNING';
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return false;
        throw error;
      }
    },

    async inFirstTry(workflowId, runId) {
      const description = await client.workflowService.describeWorkflowExecution({
        namespace,
        execution: { workflowId, runId },
      });
      const events = Number(description.workflowExecutionInfo?.historyLength ?? Number.NaN);
      return description.pendingWorkflowTask?.attempt === 1 && events <= FIRST_TASK_MAX_EVENTS;
    },
  };
}
