import type { coresdk } from '@temporalio/proto';
import type { Update } from './commands.js';
import type { HistoryEvent } from './decode.js';
import { seedOf } from './random-seed.js';

/** Fields for `fromObject`, which takes a text for a number of 64 bits. */
export type Job = { [Kind in keyof coresdk.workflow_activation.IWorkflowActivationJob]?: Record<string, unknown> };

/** The job that starts a flow, from its first event. */
function initializeJob(event: HistoryEvent): Job {
  const start = event.workflowExecutionStartedEventAttributes;
  if (!start) throw new Error('this event starts no flow');
  const parent = start.parentWorkflowExecution;
  return {
    initializeWorkflow: {
      workflowType: start.workflowType?.name,
      workflowId: start.workflowId,
      arguments: start.input?.payloads,
      randomnessSeed: seedOf(start.originalExecutionRunId ?? ''),
      headers: start.header?.fields,
      identity: start.identity,
      ...(parent && {
        parentWorkflowInfo: {
          namespace: start.parentWorkflowNamespace,
          runId: parent.runId,
          workflowId: parent.workflowId,
        },
      }),
      workflowExecutionTimeout: start.workflowExecutionTimeout,
      workflowRunTimeout: start.workflowRunTimeout,
      workflowTaskTimeout: start.workflowTaskTimeout,
      continuedFromExecutionRunId: start.continuedExecutionRunId,
      continuedInitiator: start.initiator,
      continuedFailure: start.continuedFailure,
      lastCompletionResult: start.lastCompletionResult,
      firstExecutionRunId: start.firstExecutionRunId,
      retryPolicy: start.retryPolicy,
      attempt: start.attempt,
      cronSchedule: start.cronSchedule,
      workflowExecutionExpirationTime: start.workflowExecutionExpirationTime,
      cronScheduleToScheduleInterval: start.firstWorkflowTaskBackoff,
      memo: start.memo,
      searchAttributes: start.searchAttributes,
      startTime: event.eventTime,
      rootWorkflow: start.rootWorkflowExecution,
      priority: start.priority,
      originalExecutionRunId: start.originalExecutionRunId,
    },
  };
}

/** @returns the jobs of an event that nothing the code has asked for brought about; none for most events */
export function jobsOf(event: HistoryEvent): Job[] {
  if (event.workflowExecutionStartedEventAttributes) return [initializeJob(event)];
  const newRunId = event.workflowTaskFailedEventAttributes?.newRunId;
  if (newRunId) return [{ updateRandomSeed: { randomnessSeed: seedOf(newRunId) } }];
  const signal = event.workflowExecutionSignaledEventAttributes;
  if (signal) {
    const { signalName, input, identity } = signal;
    return [{ signalWorkflow: { signalName, input: input?.payloads, identity, headers: {} } }];
  }
  const cancel = event.workflowExecutionCancelRequestedEventAttributes;
  return cancel ? [{ cancelWorkflow: { reason: cancel.cause ?? '' } }] : [];
}

export function updateJob(protocolInstanceId: string, { id, name, input, identity }: Update): Job {
  const meta = { updateId: id, identity };
  // Its validator has let it in before.
  return { doUpdate: { id, protocolInstanceId, name, input, headers: {}, meta, runValidator: false } };
}

interface Request {
  meta?: { updateId?: string | null; identity?: string | null } | null;
  input?: { name?: string | null; args?: { payloads?: Update['input'] | null } | null } | null;
}

export function updateOf(request: Request | null | undefined): Update {
  const { meta, input } = request ?? {};
  return {
    id: meta?.updateId ?? '',
    identity: meta?.identity ?? '',
    name: input?.name ?? '',
    input: input?.args?.payloads ?? [],
  };
}

/** Core's order within one activation. */
export function rankOf(job: Job): number {
  if (job.initializeWorkflow) return 0;
  if (job.updateRandomSeed) return 2;
  if (job.signalWorkflow || job.doUpdate) return 3;
  return job.resolveActivity?.['isLocal'] ? 5 : 4;
}
