import proto from '@temporalio/proto';
import protobuf from 'protobufjs';

const { temporal, coresdk } = proto;

export type Event = proto.temporal.api.history.v1.IHistoryEvent;
export type Failure = proto.temporal.api.failure.v1.IFailure;
export type Payload = proto.temporal.api.common.v1.IPayload;
export type Payloads = proto.temporal.api.common.v1.IPayloads;
export type Job = proto.coresdk.workflow_activation.IWorkflowActivationJob;
export type WorkflowCommand = proto.coresdk.workflow_commands.IWorkflowCommand;
export type Outcome = proto.temporal.api.update.v1.IOutcome;
export type UserMetadata = proto.temporal.api.sdk.v1.IUserMetadata;
export type UpdateRequest = proto.temporal.api.update.v1.IRequest;
type Long64 = NonNullable<proto.google.protobuf.ITimestamp['seconds']>;
interface LongClass {
  fromNumber(n: number): Long64;
}
type Timestamp = proto.google.protobuf.ITimestamp;
type Duration = proto.google.protobuf.IDuration;

export const {
  EventType,
  WorkflowExecutionStatus,
  TimeoutType,
  RetryState,
  WorkflowTaskFailedCause,
  UpdateWorkflowExecutionLifecycleStage: UpdateStage,
  WorkflowIdReusePolicy,
  WorkflowIdConflictPolicy,
} = temporal.api.enums.v1;
export const { ActivityCancellationType } = coresdk.workflow_commands;

const Long = protobuf.util.Long as unknown as LongClass;

/** A 64-bit number as protobuf has it. */
export const long = (n: number) => Long.fromNumber(n);

/** Epoch ms, or a length in ms, as protobuf has it. */
export const timestamp = (ms: number): Timestamp => ({
  seconds: long(Math.floor(ms / 1000)),
  nanos: Math.round((ms - Math.floor(ms / 1000) * 1000) * 1e6),
});

export function toMs(value: Timestamp | Duration | null | undefined): number | undefined {
  if (value == null) return undefined;
  return Number(value.seconds ?? 0) * 1000 + (value.nanos ?? 0) / 1e6;
}

/** A limit of 0 means none. */
export function limitMs(value: Duration | null | undefined): number | undefined {
  const ms = toMs(value);
  return ms === 0 ? undefined : ms;
}

/** Absent attributes stay absent: protobuf distinguishes them from empty ones. */
export function given<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined | null> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)) as never;
}

export function timeoutFailure(message: string, timeoutType: number, cause?: Failure): Failure {
  return { message, source: 'Server', timeoutFailureInfo: { timeoutType }, ...(cause !== undefined && { cause }) };
}

/** What the server refuses a call with; the SDK knows it by its code and text. */
export class GrpcError extends Error {
  readonly metadata: object = { get: () => [] };
  constructor(
    readonly code: number,
    readonly details: string,
  ) {
    super(`${code} ${details}`);
  }
}

export const GRPC = {
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  alreadyExists: 6,
  resourceExhausted: 8,
  failedPrecondition: 9,
  internal: 13,
  unavailable: 14,
} as const;

type Requests = typeof proto.temporal.api.workflowservice.v1;
/** Of one call of the workflow service. */
export type Request<Name extends keyof Requests> = Requests[Name] extends { create(properties?: infer R): unknown }
  ? NonNullable<R>
  : never;
