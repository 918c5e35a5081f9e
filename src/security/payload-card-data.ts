import { types } from 'node:util';
import type { Payload } from '@temporalio/common';
import { findCardData, withoutCardData } from './card-data-detector.js';

/** Paths of card data in a payload: of its JSON value, or of its bytes read as text. */
export function inspectPayload(payload: Payload): string[] {
  const { value } = read(payload);
  return value === undefined ? [] : findCardData(value);
}

/** The payload with card numbers starred and CVVs removed. */
export function starPayload(payload: Payload): Payload {
  const { value, isJson } = read(payload);
  const starred = withoutCardData(value);
  const data = isJson ? Buffer.from(JSON.stringify(starred)) : Buffer.from(String(starred), 'latin1');
  return { ...payload, data };
}

/** Latin-1 for what is not JSON: it keeps every byte, and ASCII digits are found in any case. */
function read({ metadata, data }: Payload): { value: unknown; isJson: boolean } {
  if (!types.isUint8Array(data) || data.length === 0) return { value: undefined, isJson: false };
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength);
  const encoding = metadata?.['encoding'];
  if (types.isUint8Array(encoding) && Buffer.from(encoding).toString().startsWith('json/')) {
    try {
      return { value: JSON.parse(bytes.toString('utf8')), isJson: true };
    } catch {
      // Not JSON after all: looked at as text below.
    }
  }
  return { value: bytes.toString('latin1'), isJson: false };
}
