import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/client';
import type { EnginePort } from '../contract/engine-port.js';
import { FIRST_TASK_MAX_EVENTS } from '../contract/first-task.js';
import { createBillingPort } from './billing-port.js';
import { baseOf, eventsOf, latestResult, otherRuns, runsBefore } from './earlier-runs.js';
import { createEventSink } from './event-sink.js';
import { paymentOfHistory } from './payment-of-history.js';

interface Origins {
  original: string | undefined;
  first: string | undefined;
}

/** What activities may ask of the engine, over an ordinary Temporal client. */
export function createEnginePort(client: Client): EnginePort {
  const { namespace } = client.options;
  const sink = createEventSink(client, { identity: 'holdfast-parked-event' });

  /** What a reset (same original run) and a continue-as-new (same first run) have in common with the run they follow. */
  async function originsOf(workflowId: string, runId: string): Promise<Origins | undefined> {
    for await (const event of eventsOf(client, workflowId, runId)) {
      const { originalExecutionRunId, firstExecutionRunId } = event.workflowExecutionStartedEventAttributes ?? {};
      return { original: originalExecutionRunId ?? undefined, first: firstExecutionRunId ?? undefined };
    }
    return undefined;
  }

  return {
    ...createBillingPort(client),
    deliver: (workflowId, event) => sink.deliver(workflowId, event),
    endedFlow: (workflowId) => sink.endedFlow(workflowId),
    flowOfPayment: (paymentId) => sink.flowOfPayment(paymentId),

    async earlierRun(workflowId, ownRunId) {
      const own = await originsOf(workflowId, ownRunId);
      for (const runId of (await otherRuns(client, workflowId, ownRunId)).runs) {
        // A reset copies the start event: a run with our original id is this same flow, not another one. So is one
        // that our first run was continued by, before a reset brought us back to it.
        const origins = await originsOf(workflowId, runId);
        if (origins === undefined) continue;
        if (origins.original !== own?.original && origins.first !== own?.first) return runId;
      }
      return undefined;
    },

    madeByReset: async (workflowId, ownRunId) => (await baseOf(client, workflowId, ownRunId)) !== undefined,

    async earlierPayment(workflowId, ownRunId, key) {
      const before = await runsBefore(client, workflowId, ownRunId);
      const { runs } = await otherRuns(client, workflowId, ownRunId);
      for (const runId of new Set([...before, ...runs])) {
        const events = eventsOf(client, workflowId, runId);
        const payment = await paymentOfHistory(events, client.options.loadedDataConverter, key);
        if (payment !== undefined) return payment;
      }
      return undefined;
    },

    async taskWasLost(workflowId, runId) {
      let isKept = false;
      for await (const event of eventsOf(client, workflowId, runId)) {
        isKept = true;
        if (event.workflowTaskTimedOutEventAttributes != null || event.workflowTaskFailedEventAttributes != null)
          return true;
      }
      // The first run of a flow that has waited for longer than ended runs are kept: nobody can tell any more.
      return !isKept;
    },

    latestResult: (workflowId, ownRunId) => latestResult(client, workflowId, ownRunId),

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
