import { holdsCardData } from '../src/contract/card-data.js';

/** Bytes in UTF-8 of what a history keeps of one text. */
const MOST_BYTES = 1024;

/**
 * Texts of the service as a history may keep them (money rule 9): cut to 1 KB, and left out where they hold card data.
 * An answer is never refused for them.
 * @returns the texts, and under `omitted` the names of those that were left out
 */
export function serviceTexts<Name extends string>(
  texts: Readonly<Record<Name, string | undefined>>,
): Partial<Record<Name, string>> & { omitted?: string[] } {
  const given = Object.entries<string | undefined>(texts).filter(
    (entry): entry is [Name, string] => entry[1] !== undefined,
  );
  const omitted = given.filter(([, text]) => holdsCardData(text)).map(([name]) => name);
  const kept = given.filter(([name]) => !omitted.includes(name)).map(([name, text]) => [name, cut(text)]);
  return {
    ...(Object.fromEntries(kept) as Partial<Record<Name, string>>),
    ...(omitted.length > 0 && { omitted }),
  };
}

function cut(text: string): string {
  const bytes = Buffer.from(text);
  // A character that is cut in two is left out as well.
  return bytes.length <= MOST_BYTES
    ? text
    : bytes
        .subarray(0, MOST_BYTES)
        .toString('utf8')
        .replace(/\uFFFD$/, '');
}

/**
 * A record with no text that would keep it from being recorded: the answer to a POST that can't be written down is lost, and
 * each read of it as well. Ids are short by the schema of the answer; what else is long decides nothing.
 */
export function bounded<T extends object>(record: T): T {
  const entries = Object.entries(record).map(([name, value]): [string, unknown] => [
    name,
    // Half an address is of no use; the schema has left out a longer one.
    typeof value === 'string' && name !== 'redirectUrl' ? cut(value) : value,
  ]);
  return Object.fromEntries(entries) as T;
}
