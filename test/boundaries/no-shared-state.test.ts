import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** What a worker thread loads once for all its workflows (`workflows/preload.ts`). */
const SHARED = ['workflows', 'src/contract', 'src/domain'];
/** At the beginning of a line: what changes, or an empty collection that waits for something to be put in. */
const STATE =
  /^(?:export )?(?:(?:let|var) .*|const \w+(?:: [^=]+)? = (?:new (?:Map|Set|WeakMap|WeakSet)(?:<[^(]*>)?\(\)|\[\]|\{\});?)$/gm;

function sources(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => join(folder, file));
}

test('no module that workflows share keeps anything outside of its functions', () => {
  const files = SHARED.flatMap(sources);
  expect(files.length).toBeGreaterThan(50);
  const found = files.flatMap((file) =>
    [...readFileSync(join(ROOT, file), 'utf8').matchAll(STATE)].map(([line]) => `${file}: ${line}`),
  );
  expect(found).toEqual([]);
});

test('which would be noticed', () => {
  const planted = [
    'let last: string | undefined;',
    'export const seen = new Set<string>();',
    'const queue: string[] = [];',
  ];
  expect(planted.filter((line) => !line.match(STATE))).toEqual([]);
});
