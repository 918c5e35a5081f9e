import { randomBytes } from 'node:crypto';

/** Not guessable, so that no text of a body can pose as a number. */
const MARK = `@number:${randomBytes(16).toString('hex')}:`;
const MARKED = new RegExp(`"${MARK}([^"]*)"`, 'g');
/** Strings come first, so that digits inside one are never taken for a number. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** A number as its JSON text: a float can't hold 90071992547409.91, and decimals of money have to be exact. */
export class WireNumber {
  constructor(readonly text: string) {}

  toJSON(): string {
    return MARK + this.text;
  }
}

/** JSON in which every `WireNumber` is a number with its own digits. */
export function jsonText(value: unknown): string {
  const text = JSON.stringify(value);
  return text.includes(MARK) ? text.replace(MARKED, '$1') : text;
}

/** Like `JSON.parse`, with the numbers under the named keys as they were written. Throws when it is no JSON. */
export function parseWithNumbers(text: string, keys: readonly string[]): unknown {
  JSON.parse(text);
  const marked = text.replace(STRING_OR_NUMBER, (token) => (token.startsWith('"') ? token : `"${MARK}${token}"`));
  return JSON.parse(marked, (key, value: unknown) => {
    if (typeof value !== 'string' || !value.startsWith(MARK)) return value;
    const number = value.slice(MARK.length);
    return keys.includes(key) ? new WireNumber(number) : Number(number);
  });
}
