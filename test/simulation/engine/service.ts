import { randomUUID } from 'node:crypto';
import type { Engine } from './engine.js';
import { LIMITS, largestPayload } from './limits.js';
import { resetRun } from './reset.js';
import { infoOf, type Run, type Start } from './run.js';
import {
  given,
  GRPC,
  GrpcError,
  limitMs,
  long,
  type Payload,
  type Request,
  timestamp,
  type UpdateRequest,
  WorkflowIdConflictPolicy,
} from './shapes.js';
import { listRuns } from './visibility.js';
import { WorkerByHand } from './worker-by-hand.js';

const RETENTION_S = 365 * 86_400;

/** The calls of Temporal's workflow service that our client, handler, worker and tests make. */
export function workflowService(engine: Engine) {
  const byHand = new WorkerByHand(engine);
  const named = (execution: { workflowId?: string | null; runId?: string | null } | null | undefined): Run => {
    const run = engine.find(execution?.workflowId ?? '', execution?.runId);
    if (run === undefined)
      throw new GrpcError(GRPC.notFound, `workflow not found for ID: ${execution?.workflowId ?? ''}`);
    return run;
  };
  const open = (execution: Parameters<typeof named>[0]): Run => {
    const run = named(execution);
    if (!run.isOpen) throw new GrpcError(GRPC.notFound, 'workflow execution already completed');
    return run;
  };

  const activityOf = (request: Parameters<typeof named>[0] & { activityId?: string | null }) => {
    const task = [...open(request).activities.values()].find(({ activityId }) => activityId === request.activityId);
    if (task === undefined) throw new GrpcError(GRPC.notFound, 'invalid activityID or activity already timed out');
    return task;
  };

  /** The run that has started, or the open one that the caller is content with. */
  function start(request: Request<'StartWorkflowExecutionRequest'>): { run: Run; started: boolean } {
    const workflowId = request.workflowId ?? '';
    if (Buffer.byteLength(workflowId) > LIMITS.idBytes)
      throw new GrpcError(GRPC.invalidArgument, 'WorkflowId exceeds length limit.');
    refuseLarge(request);
    const latest = engine.find(workflowId);
    if (latest !== undefined && request.requestId && latest.start.requestId === request.requestId)
      return { run: latest, started: true };
    if (
      latest?.isOpen &&
      request.workflowIdConflictPolicy === WorkflowIdConflictPolicy.WORKFLOW_ID_CONFLICT_POLICY_USE_EXISTING
    )
      return { run: latest, started: false };
    if (engine.isTaken(workflowId, request.workflowIdReusePolicy ?? 0))
      throw new GrpcError(GRPC.alreadyExists, 'Workflow execution is already running or has finished.');
    return { run: engine.begin(startOf(request)), started: true };
  }

  /** From the call to the flow's answer. */
  async function updated(run: Run, request: UpdateRequest, stage: number): Promise<object> {
    const name = request.input?.name ?? '';
    const answer = await new Promise<object>((resolve, reject) => {
      const admit = async (): Promise<object> =>
        await engine.updates.waitFor(run, engine.updates.admit(run, request), stage);
      engine.arrive(run, { kind: 'update', name }, () => void admit().then(resolve, reject));
    });
    await new Promise<void>((resolve) => engine.arrive(run, { kind: 'answer', name }, resolve));
    return answer;
  }

  function signalled(run: Run, signal: Request<'SignalWorkflowExecutionRequest'>): void {
    if (run.signalCount >= LIMITS.signals)
      throw new GrpcError(GRPC.failedPrecondition, 'exceeded workflow execution limit for signal events');
    const { input, identity, requestId } = signal;
    const name = signal.signalName ?? '';
    // Its sender does not wait: it may have more to send that is to come before.
    engine.arrive(run, { kind: 'signal', name, input }, () =>
      engine.signal(run, { name, input, ...(identity && { identity }), ...(requestId && { requestId }) }),
    );
  }

  function refuseLarge(request: object): void {
    const bytes = largestPayload(request);
    if (bytes > LIMITS.payloadBytes)
      throw new GrpcError(GRPC.invalidArgument, `Blob data size exceeds limit (${bytes} bytes).`);
  }

  return {
    async startWorkflowExecution(request: Request<'StartWorkflowExecutionRequest'>) {
      const { run, started } = start(request);
      return { runId: run.start.runId, started };
    },

    async executeMultiOperation(request: Request<'ExecuteMultiOperationRequest'>) {
      const [first, second] = request.operations ?? [];
      const asked = first?.startWorkflow;
      const update = second?.updateWorkflow;
      if (!asked || !update?.request) throw new GrpcError(GRPC.invalidArgument, 'only update-with-start is known');
      const latest = engine.find(asked.workflowId ?? '');
      const known = latest?.updates.get(update.request.meta?.updateId ?? '');
      const { run, started } = known?.state === 'completed' && latest ? { run: latest, started: false } : start(asked);
      const updateWorkflow = await updated(run, update.request, update.waitPolicy?.lifecycleStage ?? 2);
      return { responses: [{ startWorkflow: { runId: run.start.runId, started } }, { updateWorkflow }] };
    },

    async updateWorkflowExecution({
      workflowExecution,
      request,
      waitPolicy,
    }: Request<'UpdateWorkflowExecutionRequest'>) {
      if (!request) throw new GrpcError(GRPC.invalidArgument, 'no request');
      refuseLarge(request);
      const run = named(workflowExecution);
      return await updated(run, request, waitPolicy?.lifecycleStage ?? 2);
    },

    async pollWorkflowExecutionUpdate({ updateRef, waitPolicy }: Request<'PollWorkflowExecutionUpdateRequest'>) {
      const run = named(updateRef?.workflowExecution);
      const update = run.updates.get(updateRef?.updateId ?? '');
      if (update === undefined) throw new GrpcError(GRPC.notFound, `update "${updateRef?.updateId}" not found`);
      return await engine.updates.waitFor(run, update, waitPolicy?.lifecycleStage ?? 3);
    },

    async signalWorkflowExecution(request: Request<'SignalWorkflowExecutionRequest'>) {
      refuseLarge(request);
      signalled(open(request.workflowExecution), request);
      return {};
    },

    async signalWithStartWorkflowExecution(request: Request<'SignalWithStartWorkflowExecutionRequest'>) {
      const latest = engine.find(request.workflowId ?? '');
      const { run, started } = latest?.isOpen ? { run: latest, started: false } : start(request as never);
      const { signalName, signalInput: input, identity } = request;
      signalled(run, given({ signalName, input, identity }));
      return { runId: run.start.runId, started };
    },

    async queryWorkflow({ execution, query }: Request<'QueryWorkflowRequest'>) {
      const run = named(execution);
      const answer = await new Promise<{ payloads: Payload[] } | { failed: string }>((resolve) => {
        run.queries.push({ type: query?.queryType ?? '', args: query?.queryArgs?.payloads ?? [], answer: resolve });
        engine.askQueries(run);
      });
      if ('failed' in answer) throw new GrpcError(GRPC.invalidArgument, answer.failed);
      return { queryResult: { payloads: answer.payloads } };
    },

    async requestCancelWorkflowExecution({ workflowExecution }: Request<'RequestCancelWorkflowExecutionRequest'>) {
      const run = open(workflowExecution);
      engine.arrive(run, { kind: 'cancel' }, () => engine.requestCancel(run));
      return {};
    },

    async terminateWorkflowExecution({ workflowExecution, reason }: Request<'TerminateWorkflowExecutionRequest'>) {
      engine.terminate(open(workflowExecution), reason ?? '');
      return {};
    },

    async resetWorkflowExecution(request: Request<'ResetWorkflowExecutionRequest'>) {
      return { runId: resetRun(engine, named(request.workflowExecution), request).start.runId };
    },

    async describeWorkflowExecution({ execution }: Request<'DescribeWorkflowExecutionRequest'>) {
      const run = named(execution);
      return {
        workflowExecutionInfo: infoOf(run),
        workflowExtendedInfo: { cancelRequested: run.cancelRequested },
        executionConfig: { userMetadata: run.start.metadata ?? null, taskQueue: { name: run.start.taskQueue } },
        pendingActivities: [...run.activities.values()].map((task) => ({
          activityId: task.activityId,
          activityType: { name: task.type },
          state: task.state === 'started' ? 2 : 1,
          attempt: task.attempt,
          lastFailure: task.lastFailure ?? null,
          scheduledTime: timestamp(task.attemptScheduledAt),
        })),
        // Between the attempts of a task that fails it is scheduled, for a moment to come.
        ...(run.task === undefined &&
          run.isOpen &&
          run.attempt > 1 && { pendingWorkflowTask: { attempt: run.attempt, state: 1 } }),
        ...(run.task !== undefined && {
          pendingWorkflowTask: {
            attempt: run.task.attempt,
            state: run.task.state === 'started' ? 2 : 1,
            scheduledTime: timestamp(run.task.scheduledAt),
            originalScheduledTime: timestamp(run.task.scheduledAt),
            ...(run.task.state === 'started' && { startedTime: timestamp(run.task.startedAt) }),
          },
        }),
      };
    },

    async getWorkflowExecutionHistory(request: Request<'GetWorkflowExecutionHistoryRequest'>) {
      const run = named(request.execution);
      const isClosing = request.historyEventFilterType === 2;
      if (request.waitNewEvent && run.isOpen) await untilClosed(run, engine.longPollMs);
      if (isClosing) {
        const nextPageToken = run.isOpen ? Buffer.from('more') : new Uint8Array();
        return { history: { events: run.isOpen ? [] : run.events.slice(-1) }, nextPageToken };
      }
      const size = request.maximumPageSize || Number.POSITIVE_INFINITY;
      const from = Number(Buffer.from(request.nextPageToken ?? []).toString() || 0);
      const events = run.events.slice(from, from + size);
      const isLast = from + size >= run.events.length;
      return { history: { events }, nextPageToken: isLast ? new Uint8Array() : Buffer.from(String(from + size)) };
    },

    async listWorkflowExecutions({ query }: Request<'ListWorkflowExecutionsRequest'>) {
      return { executions: listRuns(engine, query ?? '').map(infoOf), nextPageToken: new Uint8Array() };
    },

    async countWorkflowExecutions({ query }: Request<'CountWorkflowExecutionsRequest'>) {
      return { count: long(listRuns(engine, query ?? '').length), groups: [] };
    },

    async pollWorkflowTaskQueue({ taskQueue }: Request<'PollWorkflowTaskQueueRequest'>) {
      return await byHand.take(taskQueue?.name ?? '');
    },

    async respondWorkflowTaskFailed({ taskToken, cause, failure }: Request<'RespondWorkflowTaskFailedRequest'>) {
      byHand.fail(taskToken, cause ?? 0, failure ?? {});
      return {};
    },

    async respondWorkflowTaskCompleted({ taskToken, commands }: Request<'RespondWorkflowTaskCompletedRequest'>) {
      byHand.complete(taskToken, commands ?? []);
      return {};
    },

    async respondActivityTaskCompletedById(request: Request<'RespondActivityTaskCompletedByIdRequest'>) {
      const task = activityOf(request);
      engine.activities.ended(task, task.token, { completed: request.result ?? undefined });
      return {};
    },

    async respondActivityTaskFailedById(request: Request<'RespondActivityTaskFailedByIdRequest'>) {
      const task = activityOf(request);
      engine.activities.ended(task, task.token, { failed: request.failure ?? {} });
      return {};
    },

    async describeTaskQueue({ taskQueue }: Request<'DescribeTaskQueueRequest'>) {
      return { pollers: engine.matching.pollersOf(taskQueue?.name ?? '').map((identity) => ({ identity })) };
    },

    async describeNamespace() {
      return {
        namespaceInfo: { name: engine.namespace, id: engine.namespaceId, state: 1 },
        config: { workflowExecutionRetentionTtl: { seconds: long(RETENTION_S), nanos: 0 } },
      };
    },
  };

  function startOf(request: Request<'StartWorkflowExecutionRequest'>): Start {
    const runId = randomUUID();
    return {
      workflowId: request.workflowId ?? '',
      runId,
      firstRunId: runId,
      originalRunId: runId,
      type: request.workflowType?.name ?? '',
      taskQueue: request.taskQueue?.name ?? '',
      input: request.input?.payloads?.length ? request.input : undefined,
      memo: (request.memo?.fields ?? {}) as Record<string, Payload>,
      searchAttributes: (request.searchAttributes?.indexedFields ?? {}) as Record<string, Payload>,
      metadata: request.userMetadata ?? undefined,
      requestId: request.requestId ?? undefined,
      cron: request.cronSchedule || undefined,
      lastResult: request.lastCompletionResult ?? undefined,
      retryPolicy: request.retryPolicy ?? undefined,
      executionTimeoutMs: limitMs(request.workflowExecutionTimeout),
      runTimeoutMs: limitMs(request.workflowRunTimeout),
    };
  }
}

async function untilClosed(run: Run, longestMs: number): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      run.watchers.delete(look);
      resolve();
    };
    const look = (): void => {
      if (!run.isOpen) end();
    };
    const timer = setTimeout(end, longestMs);
    run.watchers.add(look);
  });
}
