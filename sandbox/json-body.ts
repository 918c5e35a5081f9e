import { parseWithNumbers } from './wire-number.js';

/** Deeper JSON is refused: it could exhaust the stack. */
const DEEPEST = 64;

/**
 * Parses a raw body as JSON; undefined if it is none (no valid document is undefined). Numbers under the named keys
 * become `WireNumber`.
 */
export function parseJson(body: unknown, exactKeys: readonly string[] = []): unknown {
  if (!Buffer.isBuffer(body)) return undefined;
  try {
    const text = body.toString('utf8');
    const value: unknown = JSON.parse(text);
    if (!isShallow(value, DEEPEST)) return undefined;
    return exactKeys.length === 0 ? value : parseWithNumbers(text, exactKeys);
  } catch {
    return undefined;
  }
}

export function isEmptyBody(body: unknown): boolean {
  return body === undefined || body === null || (Buffer.isBuffer(body) && body.length === 0);
}

function isShallow(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return left > 0 && Object.values(value).every((inner) => isShallow(inner, left - 1));
}
