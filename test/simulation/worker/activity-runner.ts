import {
  ActivityCancellationDetails,
  decodePriority,
  type LoadedDataConverter,
  noopMetricMeter,
  type Payload as SdkPayload,
} from '@temporalio/common';
import {
  decodeArrayFromPayloads,
  decodeFromPayloadsAtIndex,
  encodeToPayload,
} from '@temporalio/common/lib/internal-non-workflow/index.js';
import { Activity } from '@temporalio/worker/lib/activity.js';
import type { Info } from '@temporalio/activity';
import type { ActivityEnd, ActivityTask } from '../engine/activities.js';
import type { Engine } from '../engine/engine.js';
import type { Run } from '../engine/run.js';
import { type Failure, limitMs, type Payload, toMs } from '../engine/shapes.js';
import { inOwnContext } from '../shared-storage.js';
import { localTimeout } from './jobs.js';
import type { LocalCall, LocalEnd } from './machines.js';

export type ActivityFunctions = Readonly<Record<string, (...args: never[]) => Promise<unknown>>>;

const SILENT = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
/** What the worker tells the server of an activity that it gives up as it stops. */
const SHUT_DOWN = 'WORKER_SHUTDOWN';

interface Running {
  readonly activity: Activity;
  readonly ended: Promise<void>;
}

/** Runs activities as the SDK's worker does, with its own context around each. */
export class ActivityRunner {
  private readonly live = new Set<Running>();

  constructor(
    private readonly engine: Engine,
    private readonly converter: LoadedDataConverter,
    private readonly functions: ActivityFunctions,
    private readonly isAlive: () => boolean,
    private readonly before: ((type: string) => Promise<void> | void) | undefined,
  ) {}

  get running(): number {
    return this.live.size;
  }

  underWayNow(): string[] {
    return [...this.live].map(({ activity }) => `activity ${activity.info.activityType}`);
  }

  async run(task: ActivityTask): Promise<void> {
    const { token } = task;
    const context = this.contextOf(task.run, task.activityId, false);
    const heartbeatDetails: unknown =
      task.heartbeat === undefined
        ? undefined
        : await decodeFromPayloadsAtIndex(this.converter, 0, task.heartbeat.payloads, context);
    const info = this.infoOf(task.run, {
      isLocal: false,
      activityId: task.activityId,
      activityType: task.type,
      attempt: task.attempt,
      priority: decodePriority(task.priority),
      taskQueue: task.taskQueue,
      heartbeatTimeoutMs: task.heartbeatMs,
      heartbeatDetails,
      scheduledTimestampMs: task.scheduledAt,
      currentAttemptScheduledTimestampMs: task.attemptScheduledAt,
      startToCloseTimeoutMs: task.startToCloseMs ?? 0,
      scheduleToCloseTimeoutMs: task.scheduleToCloseMs ?? 0,
    });
    const beat = async (details: unknown): Promise<void> => {
      const payloads = details === undefined ? undefined : [await encodeToPayload(this.converter, details, context)];
      if (!this.isAlive()) return;
      const answer = this.engine.activities.beat(task, token, payloads && { payloads });
      if (answer === 'go on') return;
      const reason = answer === 'gone' ? 'NOT_FOUND' : 'CANCELLED';
      activity.cancel(
        reason,
        new ActivityCancellationDetails({ cancelRequested: answer === 'cancel', notFound: answer === 'gone' }),
      );
    };
    let lastBeat = Promise.resolve();
    const activity = this.activity(info, task.type, context, (details) => {
      lastBeat = lastBeat.then(() => beat(details));
    });
    const result = await this.execute(activity, task.input?.payloads ?? []);
    // As the SDK flushes heartbeats before it reports a failure.
    await lastBeat;
    await pause(this.engine.latency('reply'));
    if (!this.isAlive()) return;
    while (!this.engine.isUp) await pause(100);
    this.engine.activities.ended(task, token, endOf(result));
  }

  /** With the retries that Core makes itself. */
  async runLocal(run: Run, call: LocalCall, seq: number): Promise<{ end: LocalEnd; attempt: number }> {
    const type = call.activityType ?? '';
    const id = call.activityId || String(seq);
    const limit = limitMs(call.startToCloseTimeout) ?? limitMs(call.scheduleToCloseTimeout);
    const most = call.retryPolicy?.maximumAttempts ?? 0;
    const first = toMs(call.retryPolicy?.initialInterval) || 1_000;
    const largest = toMs(call.retryPolicy?.maximumInterval) || first * 100;
    const scheduledAt = Date.now();
    for (let attempt = call.attempt || 1; ; attempt += 1) {
      const context = this.contextOf(run, id, true);
      const info = this.infoOf(run, {
        isLocal: true,
        activityId: id,
        activityType: type,
        attempt,
        taskQueue: run.start.taskQueue,
        heartbeatTimeoutMs: undefined,
        heartbeatDetails: undefined,
        scheduledTimestampMs: scheduledAt,
        currentAttemptScheduledTimestampMs: Date.now(),
        startToCloseTimeoutMs: limit ?? 0,
        scheduleToCloseTimeoutMs: limitMs(call.scheduleToCloseTimeout) ?? 0,
      });
      const activity = this.activity(info, type, context, () => undefined);
      const end = await this.withinLimit(this.execute(activity, call.arguments ?? []), activity, limit, {
        type,
        id,
      });
      if (!this.isAlive()) return await new Promise(() => undefined);
      if (!('failure' in end) || (most > 0 && attempt >= most)) return { end, attempt };
      const { applicationFailureInfo: app } = end.failure;
      if (app?.nonRetryable || call.retryPolicy?.nonRetryableErrorTypes?.includes(app?.type ?? ''))
        return { end, attempt };
      await pause(Math.min(largest, first * (call.retryPolicy?.backoffCoefficient || 2) ** (attempt - 1)));
    }
  }

  /** The process is gone. */
  abandon(): void {
    for (const { activity } of this.live) activity.abortController.abort(new Error('the worker is gone'));
    this.live.clear();
  }

  async drain(graceMs: number): Promise<void> {
    const ended = Promise.all([...this.live].map((one) => one.ended));
    await Promise.race([ended, pause(graceMs)]);
    for (const { activity } of this.live)
      activity.cancel(SHUT_DOWN, new ActivityCancellationDetails({ workerShutdown: true }));
    await Promise.race([ended, pause(2_000)]);
  }

  private async withinLimit(
    work: Promise<ActivityResult>,
    activity: Activity,
    limit: number | undefined,
    named: { type: string; id: string },
  ): Promise<LocalEnd> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<LocalEnd>((resolve) => {
      if (limit === undefined) return;
      timer = setTimeout(() => {
        activity.cancel('TIMED_OUT', new ActivityCancellationDetails({ timedOut: true }));
        resolve({ failure: localTimeout(named) });
      }, limit);
    });
    try {
      return await Promise.race([work.then(localEndOf), late]);
    } finally {
      clearTimeout(timer);
    }
  }

  private async execute(activity: Activity, input: readonly Payload[]): Promise<ActivityResult> {
    const { serializationContext: context } = activity;
    // A deadline of whoever has made this task, of a call in the same process, is not the activity's.
    const work = inOwnContext(async () => {
      const args = await decodeArrayFromPayloads(this.converter, [...input] as SdkPayload[], context);
      return await activity.run({ args, headers: {} });
    });
    const running: Running = {
      activity,
      ended: work.then(
        () => undefined,
        () => undefined,
      ),
    };
    this.live.add(running);
    try {
      return await work;
    } finally {
      this.live.delete(running);
    }
  }

  private activity(
    info: Info,
    type: string,
    context: Activity['serializationContext'],
    beat: (details: unknown) => void,
  ): Activity {
    const run = this.functions[type];
    const held = async (...args: unknown[]): Promise<unknown> => {
      await this.before?.(type);
      return await run?.(...(args as never[]));
    };
    return new Activity(info, held, this.converter, context, undefined, beat, undefined, SILENT, noopMetricMeter, []);
  }

  private contextOf(run: Run, activityId: string, isLocal: boolean): Activity['serializationContext'] {
    return {
      type: 'activity',
      namespace: this.engine.namespace,
      workflowId: run.start.workflowId,
      activityId,
      isLocal,
    };
  }

  private infoOf(
    run: Run,
    own: { isLocal: boolean; activityId: string; activityType: string; attempt: number } & Record<string, unknown>,
  ): Info {
    const { workflowId, runId, type } = run.start;
    return {
      ...own,
      taskToken: new Uint8Array(),
      base64TaskToken: '',
      workflowType: type,
      namespace: this.engine.namespace,
      activityNamespace: this.engine.namespace,
      workflowNamespace: this.engine.namespace,
      workflowExecution: { workflowId, runId },
      inWorkflow: true,
    } as unknown as Info;
  }
}

type ActivityResult = Awaited<ReturnType<Activity['run']>>;

function endOf(result: ActivityResult): ActivityEnd {
  if (result.failed) return { failed: result.failed.failure ?? {} };
  if (result.cancelled) return { cancelled: undefined };
  const payload = result.completed?.result;
  return { completed: payload ? { payloads: [payload] } : undefined };
}

function localEndOf(result: ActivityResult): LocalEnd {
  const failure: Failure | null | undefined = result.failed?.failure ?? result.cancelled?.failure;
  return failure ? { failure } : { result: result.completed?.result ?? undefined };
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
