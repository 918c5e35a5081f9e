import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { show } from '../contract/fields.js';
import { variables } from './variables.js';

const BOOK = 'HOLDFAST_REFERENCE_BOOK_URL';
export const referenceBookUrl = z.string().exactOptional().register(variables, {
  name: BOOK,
  readBy: 'worker, setup',
  description:
    'Database of the reference book ([production.md](production.md#reference-book)): `postgres://user:password@host/database`, over TLS with `?sslmode=verify-full`. Give it to all workers, or to none',
  default: 'none: a reference is unique as long as Temporal keeps its flow',
  secret: true,
});

const BOOK_FILE = 'HOLDFAST_REFERENCE_BOOK_URL_FILE';
export const referenceBookUrlFile = z.string().exactOptional().register(variables, {
  name: BOOK_FILE,
  readBy: 'worker, setup',
  description: 'The same from a file',
});

/** The URL of the database, from the variable or the file. undefined: there is no reference book. */
export function readReferenceBookUrl(
  {
    referenceBookUrl: inline,
    referenceBookUrlFile: file,
  }: { referenceBookUrl?: string; referenceBookUrlFile?: string },
  faults: string[],
): string | undefined {
  if (inline !== undefined && file !== undefined) {
    faults.push(`${BOOK} and ${BOOK_FILE} are both set: keep one`);
    return undefined;
  }
  let url = inline;
  try {
    if (file !== undefined) url = readFileSync(file, 'utf8').trim();
  } catch (error) {
    faults.push(
      `${BOOK_FILE}=${show(file)}: the file can't be read (${String((error as NodeJS.ErrnoException).code)})`,
    );
    return undefined;
  }
  // The fault must not show the password.
  if (url !== undefined && !isDatabaseUrl(url))
    faults.push(`${file === undefined ? BOOK : BOOK_FILE}: use postgres://user:password@host/database`);
  return url;
}

function isDatabaseUrl(text: string): boolean {
  if (!/^postgres(ql)?:\/\//.test(text) || !URL.canParse(text)) return false;
  const { pathname, password } = new URL(text);
  try {
    return pathname.length > 1 && typeof decodeURIComponent(password) === 'string';
  } catch {
    return false;
  }
}
