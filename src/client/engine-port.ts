import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import { type EnginePort, FIRST_TASK_MAX_EVENTS } from '../contract/engine-port.js';
import { MEMO_KEYS } from '../contract/names.js';
import { createBillingPort } from './billing-port.js';
import { countOutgoing } from './count-outgoing.js';
import { baseOf, described, eventsOf, latestResult, otherRuns, runsBefore, siblingThatSent } from './earlier-runs.js';
import { createEventSink } from './event-sink.js';
import { paymentOfHistory } from './ended-flow.js';
import { handOver } from './hand-over.js';
import { parkedEventsOf } from './parked-events.js';
import { sentBefore } from './sent-before.js';
import { keyword } from './start-options.js';
import { tellSubscription } from './tell-subscription.js';
import { toldEnd } from './told-end.js';
import { isOpen } from './is-open.js';

/** The search attribute of what a flow waits for. */
const WAITING_FOR = keyword('WaitingFor');

interface Origins {
  original: string | undefined;
  first: string | undefined;
}

/** The Temporal calls that activities may use, over an ordinary client. */
export function createEnginePort(client: Client): EnginePort {
  const { namespace } = client.options;
  const sink = createEventSink(client, { identity: 'holdfast-parked-event' });

  /** A reset keeps the original run id, and a continue-as-new keeps the first run id. */
  async function originsOf(workflowId: string, runId: string): Promise<Origins | undefined> {
    for await (const event of eventsOf(client, workflowId, runId)) {
      const { originalExecutionRunId, firstExecutionRunId } = event.workflowExecutionStartedEventAttributes ?? {};
      return { original: originalExecutionRunId ?? undefined, first: firstExecutionRunId ?? undefined };
    }
    return undefined;
  }

  return {
    ...createBillingPort(client),
    tellSubscription: (call) => tellSubscription(client, call),
    countOutgoing: (day, asked) => countOutgoing(client, day, asked),
    handOver: (call) => handOver(client, call),
    deliver: (workflowId, event) => sink.deliver(workflowId, event),
    endedFlow: (workflowId) => sink.endedFlow(workflowId),
    flowOfPayment: (paymentId) => sink.flowOfPayment(paymentId),

    async earlierRun(workflowId, ownRunId) {
      const own = await originsOf(workflowId, ownRunId);
      for (const runId of (await otherRuns(client, workflowId, ownRunId)).runs) {
        // A reset copies the start event, so a run with our original id is this same flow. So is a run that continued
        // our first run before a reset went back to it.
        const origins = await originsOf(workflowId, runId);
        if (origins === undefined) continue;
        if (origins.original !== own?.original && origins.first !== own?.first) return runId;
      }
      return undefined;
    },

    async startedAt(workflowId, runId) {
      const run = await described(client, workflowId, runId);
      const firstRunId = run?.raw.workflowExecutionInfo?.firstRunId;
      // A run that continues another one starts later than its flow.
      const first = !firstRunId || firstRunId === runId ? run : await described(client, workflowId, firstRunId);
      return first?.startTime.getTime();
    },

    madeByReset: async (workflowId, ownRunId) => (await baseOf(client, workflowId, ownRunId)) !== undefined,

    async claimOf(workflowId, runId) {
      const { raw, memo } = await client.workflow.getHandle(workflowId, runId).describe();
      const firstRunId = raw.workflowExecutionInfo?.firstRunId;
      const fingerprint: unknown = memo?.[MEMO_KEYS.fingerprint];
      if (!firstRunId || typeof fingerprint !== 'string')
        throw new Error(`Temporal does not tell the first run of ${workflowId}, or this worker can't decode its memo`);
      return { firstRunId, fingerprint };
    },

    async earlierPayment(workflowId, ownRunId, key) {
      const before = await runsBefore(client, workflowId, ownRunId);
      const { runs } = await otherRuns(client, workflowId, ownRunId);
      for (const runId of new Set([...before, ...runs])) {
        const events = eventsOf(client, workflowId, runId);
        const payment = await paymentOfHistory(events, { client, workflowId }, key);
        if (payment !== undefined) return payment;
      }
      return undefined;
    },

    sentBefore: (workflowId, ownRunId) => sentBefore(client, workflowId, ownRunId),
    siblingThatSent: (workflowId, ownRunId) => siblingThatSent(client, workflowId, ownRunId),
    toldEnd: (...attempt) => toldEnd(client, ...attempt),

    async taskWasLost(workflowId, runId, through = Number.POSITIVE_INFINITY) {
      let isKept = false;
      for await (const event of eventsOf(client, workflowId, runId)) {
        isKept = true;
        if (Number(event.eventId) > through) break;
        if (event.workflowTaskTimedOutEventAttributes != null || event.workflowTaskFailedEventAttributes != null)
          return true;
      }
      // Retention has deleted the flow's first run, so a lost task can't be ruled out.
      return !isKept;
    },

    latestResult: (workflowId, ownRunId) => latestResult(client, workflowId, ownRunId),

    parkedEvents: (paymentId) => parkedEventsOf(client, paymentId),

    async isOpen(workflowId) {
      try {
        return isOpen((await client.workflow.getHandle(workflowId).describe()).status);
      } catch (error) {
        if (error instanceof WorkflowNotFoundError) return false;
        throw error;
      }
    },

    async handsOver(workflowId) {
      const shown = await described(client, workflowId, undefined);
      return shown !== undefined && isOpen(shown.status) && shown.typedSearchAttributes.get(WAITING_FOR) === 'nothing';
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
