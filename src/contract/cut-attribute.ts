/** The server terminates a workflow over a too long value. This stays well below its limit. */
export const MAX_SEARCH_ATTRIBUTE_BYTES = 200;

/** Cuts a value to the limit, between characters. */
export function cutAttribute(value: string): string {
  let bytes = 0;
  let end = 0;
  for (const character of value) {
    const point = character.codePointAt(0) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    if (bytes > MAX_SEARCH_ATTRIBUTE_BYTES) return value.slice(0, end);
    end += character.length;
  }
  return value;
}
