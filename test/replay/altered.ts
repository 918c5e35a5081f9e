import { isRecord } from './decode.js';

/** The JSON of every payload inside. */
export function textIn(value: unknown): string {
  if (!isRecord(value) && !Array.isArray(value)) return '';
  const data =
    isRecord(value) && ArrayBuffer.isView(value['data']) ? Buffer.from(value['data'] as Uint8Array).toString() : '';
  return data + Object.values(value).map(textIn).join('');
}

/** Puts another text where the first one stands in each payload inside. */
export function alter(value: unknown, from: string, to: string): void {
  if (!isRecord(value) && !Array.isArray(value)) return;
  if (isRecord(value) && ArrayBuffer.isView(value['data'])) {
    value['data'] = Buffer.from(
      Buffer.from(value['data'] as Uint8Array)
        .toString()
        .replace(from, to),
    );
  }
  for (const item of Object.values(value)) alter(item, from, to);
}
