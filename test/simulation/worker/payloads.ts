import proto from '@temporalio/proto';
import type { LoadedDataConverter, Payload } from '@temporalio/common';
import {
  decode,
  encode,
  walkWorkflowActivation,
  walkWorkflowActivationCompletion,
} from '@temporalio/common/lib/internal-non-workflow/index.js';

const { WorkflowActivation } = proto.coresdk.workflow_activation;
const { WorkflowActivationCompletion } = proto.coresdk.workflow_completion;

type Activation = ReturnType<typeof WorkflowActivation.fromObject>;
type Completion = ReturnType<typeof WorkflowActivationCompletion.fromObject>;
type WalkEnv = Parameters<typeof walkWorkflowActivation<undefined>>[1];
type Transform = (payloads: Payload[]) => Promise<Payload[]>;

/** By the bytes of the payload, which the history keeps: a replay decodes what another has decoded only once. */
const decoded = new WeakMap<object, WeakMap<Uint8Array, Payload>>();

/** As the SDK's `WorkflowCodecRunner`, without its limit on how many codecs run at once, which costs more than ours do. */
export async function decodeActivation(
  { payloadCodecs }: LoadedDataConverter,
  activation: object,
): Promise<Activation> {
  const message = WorkflowActivation.fromObject(activation);
  const known = decoded.get(payloadCodecs) ?? new WeakMap<Uint8Array, Payload>();
  decoded.set(payloadCodecs, known);
  const decodeOne = async (payload: Payload): Promise<Payload> => {
    const before = payload.data && known.get(payload.data);
    if (before) return before;
    const [made = payload] = await decode(payloadCodecs, [payload]);
    if (payload.data) known.set(payload.data, made);
    return made;
  };
  await visit(walkWorkflowActivation, message, (payloads) => Promise.all(payloads.map(decodeOne)));
  return message;
}

export async function encodeCompletion(
  { payloadCodecs }: LoadedDataConverter,
  completion: object,
): Promise<Completion> {
  const message = WorkflowActivationCompletion.fromObject(completion);
  await visit(walkWorkflowActivationCompletion, message, (payloads) => encode(payloadCodecs, payloads));
  return message;
}

async function visit<T>(
  walk: (message: T, env: WalkEnv, context: undefined) => Promise<unknown>[],
  message: T,
  transformPayloads: Transform,
): Promise<void> {
  const env = {
    transformPayload: async (payload: Payload) => (await transformPayloads([payload]))[0],
    transformPayloads,
    skipHeaders: true,
    skipSearchAttributes: true,
  };
  await Promise.all(walk(message, env as WalkEnv, undefined));
}
