import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const FAULTS: readonly [path: string, text: string, rule: string][] = [
  [
    'src/client/floating.ts',
    'async function pay(): Promise<void> {}\nexport function buy(): void {\n  pay();\n}\n',
    'no-floating-promises',
  ],
  ['src/client/misused.ts', 'export const all = [1].forEach(async () => undefined);\n', 'no-misused-promises'],
  ['src/client/loose.ts', 'export const loose: any = 1;\n', 'no-explicit-any'],
  ['src/client/unmarked.ts', "export { join } from 'path';\n", 'prefer-node-protocol'],
  // `.dependency-cruiser.mjs` can't see these imports.
  ['src/client/inline.ts', "export type Inline = import('./loose.js').Loose;\n", 'consistent-type-imports'],
];

const root = resolve(import.meta.dirname, '../..');
let folder: string;
let faults: { filename: string; code: string }[];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-lint-'));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const [path, text] of FAULTS) write(path, text);
  const options = { module: 'nodenext', target: 'es2023', strict: true, noEmit: true };
  write('tsconfig.json', JSON.stringify({ compilerOptions: options, include: ['**/*.ts'] }));
  faults = lint();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function lint(): typeof faults {
  const oxlint = join(root, 'node_modules', 'oxlint', 'bin', 'oxlint');
  const args = [oxlint, '--type-aware', '--format', 'json', '-c', join(root, '.oxlintrc.json'), '.'];
  // The type-aware half is looked up on the PATH, where npm scripts have it and a plain `node` has not.
  const env = { ...process.env, PATH: [join(root, 'node_modules', '.bin'), process.env['PATH']].join(delimiter) };
  try {
    execFileSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' });
  } catch (error) {
    const { diagnostics } = JSON.parse((error as { stdout: string }).stdout) as { diagnostics: typeof faults };
    return diagnostics;
  }
  return [];
}

describe('the lint settings', () => {
  test.each(FAULTS)('refuse %s: %s', (path, _text, rule) => {
    const codes = faults.filter(({ filename }) => filename.endsWith(path)).map(({ code }) => code);
    expect(codes).toEqual(expect.arrayContaining([expect.stringContaining(rule)]));
  });
});
