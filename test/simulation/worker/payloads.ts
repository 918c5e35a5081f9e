import proto from '@temporalio/proto';
import type { LoadedDataConverter, Payload, SerializationContext } from '@temporalio/common';
import {
  decode,
  encode,
  walkWorkflowActivation,
  walkWorkflowActivationCompletion,
} from '@temporalio/common/lib/internal-non-workflow/index.js';

const { WorkflowActivation } = proto.coresdk.workflow_activation;
const { WorkflowActivationCompletion } = proto.coresdk.workflow_completion;

type Activation = ReturnType<typeof WorkflowActivation.fromObject>;
type Completion = proto.coresdk.workflow_completion.IWorkflowActivationCompletion;
type Context = SerializationContext | undefined;
type WalkEnv = Parameters<typeof walkWorkflowActivation<Context>>[1];
type Decoded = WeakMap<Uint8Array, { for: string | undefined; payload: Payload }>;

/** By the bytes of the payload, which the history keeps: a replay decodes what another has decoded only once. */
const decoded = new WeakMap<object, Decoded>();

const RESOLUTIONS: Readonly<Record<string, 'activity' | 'child'>> = {
  ResolveActivity: 'activity',
  ResolveChildWorkflowExecutionStart: 'child',
  ResolveChildWorkflowExecution: 'child',
};

/**
 * Decodes and encodes what a flow is told and says, as the SDK's `WorkflowCodecRunner`, with the same context for each
 * payload. Without its limit on how many codecs run at once, which costs more than ours do.
 */
export class FlowPayloads {
  private readonly pending = { activity: new Map<number, Context>(), child: new Map<number, Context>() };

  constructor(
    private readonly converter: LoadedDataConverter,
    private readonly namespace: string,
    private readonly workflowId: string,
  ) {}

  async decodeActivation(activation: object): Promise<Activation> {
    const message = WorkflowActivation.fromObject(activation);
    const decodeAll = (payloads: Payload[], context: Context): Promise<Payload[]> =>
      Promise.all(payloads.map((payload) => this.decodeOne(payload, context)));
    await this.visit(walkWorkflowActivation, message, decodeAll, (part, type, context) => {
      const kind = RESOLUTIONS[type];
      return kind === undefined ? context : this.pending[kind].get(part.seq ?? 0);
    });
    return message;
  }

  /** @param isSent whether it leaves the worker, so that it is encoded; of what does not, only the contexts are kept */
  async encodeCompletion(completion: Completion, isSent: boolean): Promise<Completion> {
    this.keepContexts(completion);
    if (!isSent) return completion;
    const message = WorkflowActivationCompletion.fromObject(completion);
    const encodeAll = (payloads: Payload[], context: Context): Promise<Payload[]> =>
      encode(this.converter.payloadCodecs, payloads, context as never);
    await this.visit(
      walkWorkflowActivationCompletion,
      message,
      encodeAll,
      (part, type, context) => this.contextOf(type, part) ?? context,
    );
    return message;
  }

  private async visit<T>(
    walk: (message: T, env: WalkEnv, context: Context) => Promise<unknown>[],
    message: T,
    transformPayloads: (payloads: Payload[], context: Context) => Promise<Payload[]>,
    deriveContext: (part: Part, type: string, context: Context) => Context,
  ): Promise<void> {
    const env = {
      transformPayload: async (payload: Payload, context: Context) => (await transformPayloads([payload], context))[0],
      transformPayloads,
      deriveContext: (part: object, typeName: string, context: Context) =>
        deriveContext(part, typeName.slice(typeName.lastIndexOf('.') + 1), context),
      skipHeaders: true,
      skipSearchAttributes: true,
    };
    await Promise.all(walk(message, env as WalkEnv, this.flow));
  }

  private get flow(): SerializationContext {
    return { type: 'workflow', namespace: this.namespace, workflowId: this.workflowId };
  }

  private keepContexts({ successful }: Completion): void {
    for (const {
      scheduleActivity,
      scheduleLocalActivity,
      startChildWorkflowExecution: child,
    } of successful?.commands ?? []) {
      for (const call of [scheduleActivity, scheduleLocalActivity])
        if (call?.seq != null) this.pending.activity.set(call.seq, this.activity(call, call === scheduleLocalActivity));
      if (child?.seq != null) this.pending.child.set(child.seq, this.child(child));
    }
  }

  private contextOf(type: string, part: Part): Context {
    if (type === 'ScheduleActivity') return this.activity(part, false);
    if (type === 'ScheduleLocalActivity') return this.activity(part, true);
    if (type === 'StartChildWorkflowExecution') return this.child(part);
    if (type !== 'WorkflowCommand') return undefined;
    // What is beside a command, which is its summary.
    if (part.scheduleActivity) return this.activity(part.scheduleActivity, false);
    if (part.scheduleLocalActivity) return this.activity(part.scheduleLocalActivity, true);
    return part.startChildWorkflowExecution ? this.child(part.startChildWorkflowExecution) : undefined;
  }

  private activity({ activityId }: Part, isLocal: boolean): SerializationContext {
    return { ...this.flow, type: 'activity', ...(activityId && { activityId }), isLocal };
  }

  private child({ workflowId, namespace }: Part): Context {
    if (workflowId == null) return undefined;
    return { type: 'workflow', namespace: namespace || this.namespace, workflowId };
  }

  private async decodeOne(payload: Payload, context: Context): Promise<Payload> {
    const { payloadCodecs } = this.converter;
    const known: Decoded = decoded.get(payloadCodecs) ?? new WeakMap();
    decoded.set(payloadCodecs, known);
    const before = payload.data && known.get(payload.data);
    // The same bytes may have been sent to another flow, which may not read them as its own.
    if (before && before.for === context?.workflowId) return before.payload;
    const [made = payload] = await decode(payloadCodecs, [payload], context as never);
    if (payload.data) known.set(payload.data, { for: context?.workflowId, payload: made });
    return made;
  }
}

/** The fields of a command that name a context. */
interface Part {
  activityId?: string | null;
  workflowId?: string | null;
  namespace?: string | null;
  /** Of what is resolved. */
  seq?: number | null;
  scheduleActivity?: Part | null;
  scheduleLocalActivity?: Part | null;
  startChildWorkflowExecution?: Part | null;
}
