import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = resolve(import.meta.dirname, '../..');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
};

/** Names of the packages that the sources of a folder import, with a file that does. */
function importedBy(folder: string): Map<string, string> {
  const packages = new Map<string, string>();
  if (!existsSync(join(root, folder))) return packages;
  for (const path of readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })) {
    if (!/\.(ts|mjs)$/.test(path)) continue;
    const code = readFileSync(join(root, folder, path), 'utf8');
    for (const [, name] of code.matchAll(/^(?:import|export)\b[^;]*?\bfrom '([^'.][^']*)'|^import '([^'.][^']*)'/gm)) {
      const [scope = '', rest] = (name ?? '').split('/');
      const bare = scope.startsWith('@') ? `${scope}/${rest}` : scope;
      if (bare !== '' && !bare.startsWith('node:')) packages.set(bare, `${folder}/${path}`);
    }
  }
  return packages;
}

function undeclared(folders: readonly string[], declared: Record<string, string>): string[] {
  return folders
    .flatMap((folder) => [...importedBy(folder)])
    .filter(([name]) => declared[name] === undefined)
    .map(([name, path]) => `${name} (${path})`);
}

describe('every package that is imported', () => {
  test('by what runs in production is a dependency of package.json', () => {
    expect(undeclared(['src', 'workflows', 'activities', 'workers', 'tools/stack'], manifest.dependencies)).toEqual([]);
  });

  test('by scripts, tests and benchmarks is named in package.json', () => {
    const declared = { ...manifest.dependencies, ...manifest.devDependencies };
    expect(undeclared(['tools', 'test'], declared)).toEqual([]);
  });

  test("is not a module of Node without its 'node:' prefix", () => {
    const folders = ['src', 'workflows', 'activities', 'workers', 'sandbox', 'tools', 'test'];
    const bare = folders.flatMap((folder) => [...importedBy(folder)]).filter(([name]) => builtinModules.includes(name));
    expect(bare).toEqual([]);
  });
});
