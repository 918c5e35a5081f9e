import type { Client } from '@temporalio/client';
import type { Payload, ProtoFailure } from '@temporalio/common';
import { isUndecodable } from '../contract/payload-marks.js';
import { decodePayload } from '../security/data-converter.js';

/** Decrypts payloads of a history with the keys of this command. */
export class Decoder {
  readonly #converter: Client['options']['loadedDataConverter'];

  constructor(client: Client) {
    this.#converter = client.options.loadedDataConverter;
  }

  /** The value, or undefined when there is none or it can't be decoded. */
  async value(payload: Payload | null | undefined): Promise<unknown> {
    try {
      const value = await decodePayload(this.#converter, payload);
      return isUndecodable(value) ? undefined : value;
    } catch {
      return undefined;
    }
  }

  /** Text of the innermost cause, which Holdfast threw, such as "ProviderUnavailable: no answer within 30 s". */
  async failure(failure: ProtoFailure | null | undefined): Promise<string | undefined> {
    let cause = failure;
    while (cause?.cause) cause = cause.cause;
    if (cause == null) return undefined;
    const encoded = await this.value(cause.encodedAttributes);
    const message = fieldOf(encoded, 'message') ?? cause.message;
    return [cause.applicationFailureInfo?.type, message].filter(Boolean).join(': ');
  }
}

/** A string, number or boolean field of an object, as text. */
export function fieldOf(value: unknown, name: string): string | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const field = (value as Record<string, unknown>)[name];
  return ['string', 'number', 'boolean'].includes(typeof field) ? String(field) : undefined;
}
