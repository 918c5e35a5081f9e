import { randomUUID } from 'node:crypto';

/**
 * A number as its JSON text. A float can't hold 90071992547409.91, so decimals of money must reach and
 * leave the wire without ever being one. (`JSON.rawJSON` and the source text in a reviver, which would
 * serve, need a newer Node than the one promised.)
 */
export class NumberLiteral {
  constructor(readonly text: string) {}
}

/** Like `JSON.stringify`, with every {@link NumberLiteral} written as its own text. */
export function stringifyExact(value: unknown): string {
  if (value instanceof NumberLiteral) return value.text;
  if (Array.isArray(value)) return `[${value.map((item) => stringifyExact(item ?? null)).join(',')}]`;
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined);
    return `{${fields.map(([key, field]) => `${JSON.stringify(key)}:${stringifyExact(field)}`).join(',')}}`;
  }
  return JSON.stringify(value);
}

/** Strings first, so that digits inside a string are never taken for a number. */
const STRING_OR_NUMBER = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g;

/** Not guessable, so that no body can pose as a marked number. */
const MARK = randomUUID();

/**
 * Like `JSON.parse`, with every number as a {@link NumberLiteral}.
 * @throws SyntaxError when the text is not JSON.
 */
export function parseExact(text: string): unknown {
  JSON.parse(text);
  const marked = text.replace(STRING_OR_NUMBER, (token) => (token.startsWith('"') ? token : `{"${MARK}":"${token}"}`));
  return JSON.parse(marked, (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, MARK)) return value;
    return new NumberLiteral(String((value as Record<string, unknown>)[MARK]));
  });
}
