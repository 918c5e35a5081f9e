import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { renderPage } from '../../tools/configuration-page.js';

const ROOT = new URL('../../', import.meta.url);
const PAGE = readFileSync(new URL('docs/configuration.md', ROOT), 'utf8');
/** Where processes read their environment. */
const FOLDERS = ['src/config', 'workers', 'tools/stack'];
const VARIABLE = /\bHOLDFAST_[A-Z]+(?:_[A-Z]+)*\b/g;

const read = FOLDERS.flatMap((folder) =>
  readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => readFileSync(new URL(`${folder}/${file}`, ROOT), 'utf8')),
);

test('The tables on configuration are what the schemas say: npm run configuration writes them', async () => {
  expect(await renderPage(PAGE)).toBe(PAGE);
});

test('The page on configuration names every variable that a process reads, and none that nobody reads', () => {
  const inCode = new Set(read.flatMap((text) => text.match(VARIABLE) ?? []));
  // Those of the sandbox alone have a page of their own.
  const common = [...inCode].filter(
    (name) => name === 'HOLDFAST_SANDBOX_PORT' || !name.startsWith('HOLDFAST_SANDBOX_'),
  );
  const tables = PAGE.slice(0, PAGE.indexOf('A business unit:'));
  const inTables = new Set(
    tables
      .split('\n')
      .flatMap((line) => (line.startsWith('| `') ? ((line.split('|')[1] ?? '').match(VARIABLE) ?? []) : [])),
  );
  expect([...inTables].toSorted()).toEqual(common.toSorted());
});
