/**
 * Search attributes of every flow. They are plaintext, so they must never hold personal data. Names and types are
 * fixed; SQLite visibility allows 10 keyword attributes and 3 of each other type.
 */
export const SEARCH_ATTRIBUTES = {
  PaymentStatus: 'KEYWORD',
  WaitingFor: 'KEYWORD',
  PaymentId: 'KEYWORD',
  BusinessUnit: 'KEYWORD',
  Provider: 'KEYWORD',
  SubCategory: 'KEYWORD',
  NeedsOperator: 'BOOL',
  DueAt: 'DATETIME',
  AmountMinor: 'INT',
  Currency: 'KEYWORD',
} as const;

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
