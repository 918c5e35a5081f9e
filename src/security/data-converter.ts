import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DataConverter, LoadedDataConverter, Payload, SerializationContext } from '@temporalio/common';
import type { KeyRing } from './key-ring.js';
import { EncryptionCodec, type EncryptionCodecOptions } from './payload-codec.js';

export interface HoldfastDataConverter extends DataConverter {
  payloadConverterPath: string;
  failureConverterPath: string;
  payloadCodecs: [EncryptionCodec];
}

/**
 * The data converter that client, worker and replay must share. The SDK loads the two modules by path and bundles them
 * into the workflows, so the paths are also passed to `bundleWorkflowCode`.
 */
export function createDataConverter(keyRing: KeyRing, options: EncryptionCodecOptions = {}): HoldfastDataConverter {
  return { ...converterPaths(), payloadCodecs: [new EncryptionCodec(keyRing, options)] };
}

/** Absolute paths of modules. */
export interface ConverterPaths {
  payloadConverterPath: string;
  failureConverterPath: string;
}

/** The converter modules next to this file: compiled, or sources in tests. */
export function converterPaths(): ConverterPaths {
  return { payloadConverterPath: pathOf('payload-converter'), failureConverterPath: pathOf('failure-converter') };
}

/**
 * The same for workflows of merchants. Who bundles these ahead gives them to `bundleWorkflowCode`; a worker refuses a
 * bundle without them.
 */
export function ownConverterPaths(): ConverterPaths {
  return { ...converterPaths(), payloadConverterPath: pathOf('own-payload-converter') };
}

function pathOf(name: string): string {
  return fileURLToPath(new URL(`./${name}${extname(fileURLToPath(import.meta.url))}`, import.meta.url));
}

/**
 * The value of a payload of a history, which no call of the SDK's client returns; undefined without one. A value that
 * this process has no key for is marked: see `isUndecodable`.
 * @param context the flow that the payload must name to be taken for ours, as the SDK's own reads give it
 */
export async function decodePayload(
  converter: LoadedDataConverter,
  payload: Payload | null | undefined,
  context?: SerializationContext,
): Promise<unknown> {
  if (payload == null) return undefined;
  let payloads = [payload];
  for (const codec of converter.payloadCodecs.toReversed()) payloads = await codec.decode(payloads, context);
  const [clear] = payloads;
  return clear === undefined ? undefined : converter.payloadConverter.fromPayload(clear, context);
}

/**
 * The payload of a value, for calls that the SDK's client does not make; see {@link decodePayload}.
 * @throws Error where a codec returns nothing
 */
export async function encodePayload(
  { payloadConverter, payloadCodecs }: LoadedDataConverter,
  value: unknown,
  context?: SerializationContext,
): Promise<Payload> {
  // The converter wants a context, and ours reads none; a codec that gets none names no flow.
  let payloads = [payloadConverter.toPayload(value, context as SerializationContext)];
  for (const codec of payloadCodecs) payloads = await codec.encode(payloads, context as SerializationContext);
  const [payload] = payloads;
  if (payload === undefined) throw new Error('a payload codec returned nothing');
  return payload;
}
