import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const DOCS = readdirSync(join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' });
const PAGES = [
  'README.md',
  'CHANGELOG.md',
  'examples/README.md',
  ...DOCS.filter((path) => path.endsWith('.md')).map((path) => `docs/${path}`),
];
const FILE = /\b(?:test|src|workflows|activities|workers|sandbox|tools|docs)\/[\w./*-]+\.(?:ts|mjs|md|json)\b/g;
const LINK = /\]\((?!https?:)([^)\s#]*)(?:#([^)\s]+))?\)/g;

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

/** With `*` in the name of the file: any of them. */
function isThere(path: string): boolean {
  const [folder, name] = [join(ROOT, dirname(path)), basename(path)];
  if (!name.includes('*')) return existsSync(join(folder, name));
  const form = new RegExp(`^${name.replaceAll('.', '\\.').replaceAll('*', '.*')}$`);
  return existsSync(folder) && readdirSync(folder).some((file) => form.test(file));
}

/** As the pages' hosts make them of headings. */
const anchorsOf = (page: string): string[] =>
  [...page.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .trim()
      .replace(/\s/g, '-'),
  );

test.each(PAGES)('%s names only files that are there', (page) => {
  const missing = [...read(page).matchAll(FILE)].filter(([path]) => !isThere(path));
  expect(missing.map(([path]) => path)).toEqual([]);
});

test.each(PAGES)('%s links only to pages and headings that are there', (page) => {
  const dead = [...read(page).matchAll(LINK)].filter(([, path = '', anchor]) => {
    const target = path === '' ? page : join(dirname(page), path);
    if (!isThere(target)) return true;
    return anchor !== undefined && !anchorsOf(read(target)).includes(anchor);
  });
  expect(dead.map(([link]) => link)).toEqual([]);
});

test.each(['src', 'docs', 'workflows'])("the README's table names every folder of %s", (parent) => {
  const page = read('README.md');
  const table = page.slice(page.indexOf('## Where things are'), page.indexOf('## In production'));
  const folders = readdirSync(join(ROOT, parent), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const rows = table.split('\n').filter((row) => row.startsWith(`| \`${parent}`));
  const unnamed = folders.filter(
    ({ name }) => !rows.some((row) => row.includes(`\`${parent}/${name}\``) || row.includes(`\`${name}\``)),
  );
  expect(unnamed.map(({ name }) => name)).toEqual([]);
});
