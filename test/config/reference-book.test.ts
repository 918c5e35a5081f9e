import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { describe, loadConfig, secretsOf } from '../../src/config/index.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { env, faultsOf } from './support.js';

const URL = 'postgres://book:top%24secret@db.example.com/shop?sslmode=verify-full';
const withBook = (url?: string, file?: string) =>
  loadConfig(env({ HOLDFAST_REFERENCE_BOOK_URL: url, HOLDFAST_REFERENCE_BOOK_URL_FILE: file }));

test('the reference book is off unless its database is named, by its variable or by a file', () => {
  const file = join(temporaryFolder(), 'url');
  writeFileSync(file, `${URL}\n`);
  expect(withBook().referenceBookUrl).toBeUndefined();
  expect(describe(withBook())).toContain('HOLDFAST_REFERENCE_BOOK_URL: not set');
  for (const config of [withBook(URL), withBook(undefined, file)]) {
    expect(config.referenceBookUrl).toBe(URL);
    expect(describe(config).join('\n')).toContain('HOLDFAST_REFERENCE_BOOK_URL: set');
    expect(describe(config).join('\n')).not.toContain('secret');
    expect(secretsOf(config)).toEqual(expect.arrayContaining(['top%24secret', 'top$secret']));
  }
  expect(faultsOf(() => withBook(URL, file))).toEqual([
    'HOLDFAST_REFERENCE_BOOK_URL and HOLDFAST_REFERENCE_BOOK_URL_FILE are both set: keep one',
  ]);
  expect(faultsOf(() => withBook(undefined, '/nowhere'))).toEqual([
    'HOLDFAST_REFERENCE_BOOK_URL_FILE="/nowhere": the file can\'t be read (ENOENT)',
  ]);
});

test.each([
  'mysql://book:secret@db/shop',
  'postgres://book:secret@db',
  'postgres://book:%zz-secret@db/shop',
  'db:5432',
])('the database of the reference book is not %s, and the fault shows no password', (url) => {
  const faults = faultsOf(() => withBook(url));
  expect(faults).toEqual(['HOLDFAST_REFERENCE_BOOK_URL: use postgres://user:password@host/database']);
});
