import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DataConverter } from '@temporalio/common';
import type { KeyRing } from './key-ring.js';
import { EncryptionCodec, type EncryptionCodecOptions } from './payload-codec.js';

export interface HoldfastDataConverter extends DataConverter {
  payloadConverterPath: string;
  failureConverterPath: string;
  payloadCodecs: [EncryptionCodec];
}

/**
 * What client, worker and replay all need, the same in each. The SDK loads the two modules by path and
 * bundles them into the workflows, so the paths are given to `bundleWorkflowCode` as well.
 */
export function createDataConverter(keyRing: KeyRing, options: EncryptionCodecOptions = {}): HoldfastDataConverter {
  return { ...converterPaths(), payloadCodecs: [new EncryptionCodec(keyRing, options)] };
}

/** Absolute paths of the converter modules beside this one: compiled, or sources under test. */
export function converterPaths(): { payloadConverterPath: string; failureConverterPath: string } {
  const extension = extname(fileURLToPath(import.meta.url));
  const pathOf = (name: string) => fileURLToPath(new URL(`./${name}${extension}`, import.meta.url));
  return { payloadConverterPath: pathOf('payload-converter'), failureConverterPath: pathOf('failure-converter') };
}
