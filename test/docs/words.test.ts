import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const FOLDERS = ['src', 'workflows', 'activities', 'workers', 'sandbox', 'tools', 'test'];
const OWN = join('test', 'docs', 'words.test.ts');
/** Words of the glossary's second table that have a plain meaning as well: only a reader can tell. */
const ORDINARY =
  'letter hear happen told wrongs account books outside attack asking stage scene play note roads climate perform judge';

/** Single words of the left column of "Words that are not used". */
function unusedWords(): string[] {
  const [, table = ''] = readFileSync(join(ROOT, 'docs/glossary.md'), 'utf8').split('## Words that are not used');
  return [...table.matchAll(/^\| ([^|]+?) +\|/gm)]
    .flatMap(([, cell = '']) => cell.replace(/\(.*\)/, '').split(','))
    .map((word) => word.trim())
    .filter((word) => /^[a-z]+$/.test(word) && !ORDINARY.split(' ').includes(word));
}

const files = FOLDERS.flatMap((folder) =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
).filter((path) => ['.ts', '.mjs'].includes(extname(path)) && path !== OWN);

/** What a seed is made of can't be renamed: every seeded run would be another one. */
const withoutSeeds = (text: string): string => text.replaceAll(/\.fork\('[^']*'\)/g, '');

test('no name, comment or text of the code has a word that the glossary replaces', () => {
  const words = unusedWords();
  expect(words).toContain('scrubber');
  const pattern = new RegExp(words.join('|'), 'i');
  const found = files.flatMap((path) => {
    const word = pattern.exec(withoutSeeds(readFileSync(join(ROOT, path), 'utf8')))?.[0];
    return word === undefined ? [] : [`${path}: ${word}`];
  });
  expect(found).toEqual([]);
});
