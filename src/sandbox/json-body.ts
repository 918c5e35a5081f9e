/** Deeper JSON is refused: it can only be meant to exhaust a stack. */
const DEEPEST = 64;

/** JSON of a raw body, or undefined when it is none (no valid document is undefined). */
export function parseJson(body: unknown): unknown {
  if (!Buffer.isBuffer(body)) return undefined;
  try {
    const value: unknown = JSON.parse(body.toString('utf8'));
    return isShallow(value, DEEPEST) ? value : undefined;
  } catch {
    return undefined;
  }
}

function isShallow(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return left > 0 && Object.values(value).every((inner) => isShallow(inner, left - 1));
}
