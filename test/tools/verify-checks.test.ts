import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { root } from './support.js';

/** Plain JavaScript, which runs before anything is installed, without types. */
const load = async <T>(module: string): Promise<T> =>
  (await import(new URL(`file://${join(root, 'tools', module)}`).href)) as T;

const good = { version: '1.0.0', integrity: 'sha512-x', license: 'MIT' };

describe('the check of the lock file', () => {
  type Check = { lockFaults: (manifest: object, lock: { packages: object }) => string[] };
  const faultsOf = async (said: object, packages: object): Promise<string[]> =>
    (await load<Check>('check-lock.mjs')).lockFaults(said, { packages });
  const manifest = { dependencies: { a: '1.0.0' } };
  const fine = { '': manifest, 'node_modules/a': good };

  test('finds nothing to say of a good one', async () => {
    expect(await faultsOf(manifest, fine)).toEqual([]);
  });

  test.each<[string, object, object, RegExp]>([
    [
      'a range',
      { dependencies: { a: '^1.0.0' } },
      { ...fine, '': { dependencies: { a: '^1.0.0' } } },
      /name one exact version/,
    ],
    [
      'a registry named',
      manifest,
      { ...fine, 'node_modules/a': { ...good, resolved: 'https://x' } },
      /ties the lock file/,
    ],
    ['a hash missing', manifest, { ...fine, 'node_modules/a': { version: '1.0.0' } }, /no sha512 integrity/],
    ['a weak hash', manifest, { ...fine, 'node_modules/a': { ...good, integrity: 'sha1-x' } }, /no sha512 integrity/],
    ['disagreement with package.json', { dependencies: { a: '1.0.1' } }, fine, /package.json says 1.0.1/],
    [
      'a second protobufjs below the SDK',
      manifest,
      { ...fine, 'node_modules/@temporalio/common/node_modules/protobufjs': good },
      /a second protobufjs/,
    ],
  ])('finds %s', async (_what, said, packages, fault) => {
    expect((await faultsOf(said, packages)).join('\n')).toMatch(fault);
  });
});

describe('the check of licences', () => {
  type Check = { licenceFaults: (lock: { packages: object }, textOf: () => undefined) => string[] };
  const a = { license: 'MIT', dependencies: { b: '1' }, peerDependencies: { c: '1' } };
  const faultsOf = async (entry: object, roots: object): Promise<string[]> => {
    const packages = { '': roots, 'node_modules/a': a, 'node_modules/a/node_modules/b': entry, 'node_modules/c': {} };
    return (await load<Check>('check-licences.mjs')).licenceFaults({ packages }, () => undefined);
  };

  test.each([
    ['a permissive one', { license: 'MIT' }, 0],
    ['a choice that has a permissive one', { license: '(GPL-3.0 OR MIT)' }, 0],
    ['two that both hold, one of them not permissive', { license: 'MIT AND GPL-3.0' }, 1],
    ['a copyleft one', { license: 'AGPL-3.0' }, 1],
    ['none', {}, 1],
  ])('%s', async (_what, entry, count) => {
    const c = 'c@undefined: licence unknown is not on the list of permissive ones';
    for (const roots of [{ dependencies: { a: '1' } }, { peerDependencies: { a: '1' }, devDependencies: { a: '1' } }]) {
      const faults = await faultsOf({ ...good, license: undefined, ...entry }, roots);
      expect(faults).toContain(c);
      expect(faults).toHaveLength(count + 1);
    }
    expect(await faultsOf({ ...good, license: undefined, ...entry }, { devDependencies: { a: '1' } })).toEqual([]);
  });
});

test('.ci/run is what the README tells a newcomer to run before a change is handed in', () => {
  expect(readFileSync(join(root, '.ci', 'run'), 'utf8')).toMatch(/^exec node tools\/verify\.mjs/m);
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    scripts: Record<string, string>;
  };
  expect(scripts['verify']).toBe('node tools/verify.mjs');
});
