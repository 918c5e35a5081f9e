import { randomBytes } from 'node:crypto';

/** Random, so that no string in a body can be mistaken for a marked number. */
const MARK = `@number:${randomBytes(16).toString('hex')}:`;
const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');
/** Matches strings first, so that digits inside a string don't match as a number. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** A number as its JSON text: a float can't hold 90071992547409.91, and decimal amounts must be exact. */
export class WireNumber {
  constructor(readonly text: string) {}

  toJSON(): string {
    return MARK + this.text;
  }
}

/** Serializes JSON, with every `WireNumber` as a number with its own digits. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes(MARK) ? text.replace(MARKED, '$1') : text;
}

/** Like `JSON.parse`, but numbers under the named keys keep their digits. Throws for invalid JSON. */
export function parseWithNumbers(text: string, keys: readonly string[]): unknown {
  JSON.parse(text);
  const marked = text.replace(STRING_OR_NUMBER, (token) => (token.startsWith('"') ? token : `"${MARK}${token}"`));
  return JSON.parse(marked, (key, value: unknown) => {
    if (typeof value !== 'string' || !value.startsWith(MARK)) return value;
    const number = value.slice(MARK.length);
    return keys.includes(key) ? new WireNumber(number) : Number(number);
  });
}
