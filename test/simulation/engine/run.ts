import { DEPLOYMENT_NAME } from '../../../src/contract/names.js';
import type { ActivityTask } from './activities.js';
import {
  type Event,
  EventType,
  given,
  long,
  type Outcome,
  type Payload,
  type Payloads,
  timestamp,
  type UpdateRequest,
  type UserMetadata,
  WorkflowExecutionStatus,
} from './shapes.js';

/** A workflow task that is scheduled or under way. */
export interface WorkflowTask {
  state: 'scheduled' | 'started';
  attempt: number;
  /** Made for an update alone: it leaves no trace if the update is rejected. */
  speculative: boolean;
  /** Its events stand in the history; those of later attempts and of speculative tasks are written when they end. */
  written: boolean;
  scheduledAt: number;
  startedAt: number;
  startedEventId: number;
  timer?: NodeJS.Timeout | undefined;
  /** That it brings: those that had come when it started. */
  updates: readonly Update[];
  /** What the worker was told of the history when it was given the task: a replay has to be told the same. */
  shown?: {
    historySizeBytes: ReturnType<typeof long>;
    suggestContinueAsNew: boolean;
    targetWorkerDeploymentVersionChanged: boolean;
  };
  /** Which worker has it; its cached flow is used if it is the same as before. */
  worker?: object | undefined;
}

export interface Update {
  readonly id: string;
  readonly request: UpdateRequest;
  state: 'admitted' | 'sent' | 'accepted' | 'completed';
  /** Of an update that a reset gives again: the event brings it, and no message does. */
  admittedEventId?: number;
  acceptedEventId?: number;
  outcome?: Outcome;
  /** Told of every change of state; a refusal of the server ends it. */
  readonly waiters: Set<(refused?: Error) => void>;
}

export interface PendingTimer {
  readonly timerId: string;
  readonly startedEventId: number;
  readonly dueAt: number;
  handle?: NodeJS.Timeout | undefined;
}

export interface PendingChild {
  readonly initiatedEventId: number;
  readonly workflowId: string;
  startedEventId?: number;
  runId?: string;
}

export interface Query {
  readonly type: string;
  readonly args: Payload[];
  answer(result: { payloads: Payload[] } | { failed: string }): void;
}

export interface Start {
  workflowId: string;
  runId: string;
  firstRunId: string;
  originalRunId: string;
  type: string;
  taskQueue: string;
  input: Payloads | undefined;
  memo: Record<string, Payload>;
  searchAttributes: Record<string, Payload>;
  metadata?: UserMetadata | undefined;
  requestId?: string | undefined;
  continuedFrom?: string | undefined;
  parent?: { run: Run; initiatedEventId: number } | undefined;
  executionTimeoutMs?: number | undefined;
  runTimeoutMs?: number | undefined;
  cron?: string | undefined;
  /** What the run before it of its schedule has returned. */
  lastResult?: Payloads | undefined;
  retryPolicy?: object | undefined;
}

/** One run: its history, and what the history says is pending. Nothing else survives the death of the engine. */
export class Run {
  readonly events: Event[] = [];
  status: number = WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING;
  startedAt = 0;
  closedAt: number | undefined;
  sizeBytes = 0;
  task: WorkflowTask | undefined;
  /** Attempt of the next workflow task. */
  attempt = 1;
  /** Events that came while a task was under way; a timer's is taken back when the task cancels the timer. */
  buffered: { write: () => void; firedTimer?: PendingTimer }[] = [];
  /** Consequences of commands, which come after the events of their task. */
  afterTask: (() => void)[] = [];
  readonly updates = new Map<string, Update>();
  /** Requests of the updates that workers were given, by id. */
  readonly brought = new Map<string, UpdateRequest>();
  updateCount = 0;
  signalCount = 0;
  readonly requestIds = new Set<string>();
  readonly timers = new Map<string, PendingTimer>();
  /** By the id of the event that scheduled it. */
  readonly activities = new Map<number, ActivityTask>();
  readonly children = new Map<number, PendingChild>();
  queries: Query[] = [];
  cancelRequested = false;
  /** Told of each new event, and of the end. */
  readonly watchers = new Set<() => void>();
  stickyTo: object | undefined;
  memo: Record<string, Payload>;
  searchAttributes: Record<string, Payload>;
  continuedTo: string | undefined;
  /** That its first task went to: the run is pinned to it once that task has completed. */
  build: string | undefined;
  isPinned = false;

  constructor(readonly start: Start) {
    this.memo = { ...start.memo };
    this.searchAttributes = { ...start.searchAttributes };
  }

  get isOpen(): boolean {
    return this.status === WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_RUNNING;
  }

  /** undefined: workers are not versioned. */
  get version(): { deploymentName: string; buildId: string } | undefined {
    return this.build === undefined ? undefined : { deploymentName: DEPLOYMENT_NAME, buildId: this.build };
  }

  get nextEventId(): number {
    return this.events.length + 1;
  }

  /** Name of the event type without its prefix, and its attributes under the name that protobuf gives them. */
  append(type: keyof typeof EventType, attributes: Partial<Event> = {}, metadata?: UserMetadata | null): number {
    const id = this.nextEventId;
    const event: Event = {
      eventId: long(id),
      eventTime: timestamp(Date.now()),
      eventType: EventType[type],
      ...attributes,
      ...(metadata != null && { userMetadata: metadata }),
    };
    this.events.push(event);
    this.sizeBytes += sizeOf(attributes);
    for (const notify of [...this.watchers]) notify();
    return id;
  }
}

/** About what the server counts: the payloads, and something for the rest. */
function sizeOf(value: unknown): number {
  if (value instanceof Uint8Array) return value.length;
  if (typeof value === 'string') return value.length;
  if (typeof value !== 'object' || value === null) return 4;
  let sum = 8;
  for (const part of Object.values(value)) sum += sizeOf(part);
  return sum;
}

/** As the engine describes and lists it. */
export function infoOf(run: Run) {
  const { workflowId, runId, firstRunId, type, taskQueue, parent } = run.start;
  return given({
    execution: { workflowId, runId },
    firstRunId,
    type: { name: type },
    taskQueue,
    status: run.status,
    startTime: timestamp(run.startedAt),
    executionTime: timestamp(run.startedAt),
    closeTime: run.closedAt === undefined ? undefined : timestamp(run.closedAt),
    historyLength: long(run.events.length),
    historySizeBytes: long(run.sizeBytes),
    memo: { fields: run.memo },
    searchAttributes: { indexedFields: run.searchAttributes },
    parentExecution: parent && { workflowId: parent.run.start.workflowId, runId: parent.run.start.runId },
  });
}
