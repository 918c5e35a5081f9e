import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

interface Groups {
  LEFT_TO_VERIFY: Readonly<Record<string, string>>;
  ONLY_AT_FULL_COUNTS: Readonly<Record<string, string>>;
  leftOutOf(kind: string): Readonly<Record<string, string>>;
  fileOf(name: string): string;
}

const root = resolve(import.meta.dirname, '../..');
const groups = (await import(join(root, 'tools/tests/groups.mjs'))) as Groups;
const isThere = (name: string): boolean => existsSync(join(root, groups.fileOf(name)));

/** Such as `simulation/rules/brakes`, with all of several in braces. */
function filesIn(reason: string): string[] {
  const named = [...reason.matchAll(/[a-z]+(?:\/(?:[a-z0-9-]+|\{[a-z0-9,-]+\}))+/g)].map(([name]) => name);
  return named.flatMap((name) => {
    const [, before = '', several] = /^(.*)\{(.*)\}$/.exec(name) ?? [];
    return several === undefined ? [name] : several.split(',').map((one) => `${before}${one}`);
  });
}

test.each(['short', 'verify'])('what a run of kind %s leaves out is there', (kind) => {
  expect(Object.keys(groups.leftOutOf(kind)).filter((name) => !isThere(name))).toEqual([]);
});

test('no file is left to two kinds of run', () => {
  expect(Object.keys(groups.LEFT_TO_VERIFY).filter((name) => name in groups.ONLY_AT_FULL_COUNTS)).toEqual([]);
});

test('`npm test` takes the file that shows in it what one that it leaves to `npm run verify` shows', () => {
  for (const [name, reason] of Object.entries(groups.LEFT_TO_VERIFY)) {
    const shown = filesIn(reason);
    expect(shown.length, `${name}: ${reason}`).toBeGreaterThan(0);
    for (const file of shown) {
      expect(isThere(file), `${name}: ${file} is there`).toBe(true);
      expect(file in groups.leftOutOf('short'), `${name}: ${file} is left out itself`).toBe(false);
    }
  }
});
