import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** Who imports what, and whether the lint settings must let it pass. */
const IMPORTS: readonly [importer: string, statement: string, allowed: boolean][] = [
  ['src/contract/a.ts', "import { x } from '../contract/b.js';", true],
  ['src/contract/b.ts', "import { z } from 'zod';", true],
  ['src/contract/c.ts', "import { x } from '../domain/b.js';", false],
  ['src/contract/d.ts', "import { x } from 'node:fs';", false],
  ['src/contract/e.ts', "import { x } from '@temporalio/client';", false],
  ['src/domain/a.ts', "import { x } from '../contract/b.js';", true],
  ['src/domain/c.ts', "import { x } from '../provider/b.js';", false],
  ['src/domain/d.ts', "import { x } from 'undici';", false],
  ['workflows/a.ts', "import { x } from '../src/domain/b.js';", true],
  ['workflows/b.ts', "import { x } from '@temporalio/workflow';", true],
  ['workflows/c.ts', "import type { x } from '../activities/b.js';", false],
  ['workflows/d.ts', "import { x } from '../src/client/b.js';", false],
  ['workflows/e.ts', "import { x } from 'node:crypto';", false],
  ['workflows/steps/f.ts', "import { x } from '../../src/provider/b.js';", false],
  ['src/provider/a.ts', "import { x } from '../domain/b.js';", true],
  ['src/provider/b.ts', "import { x } from '@temporalio/common';", false],
  ['src/provider/c.ts', "import { x } from '../client/b.js';", false],
  ['src/client/a.ts', "import { x } from '@temporalio/client';", true],
  ['src/client/b.ts', "import { x } from '../provider/b.js';", false],
  ['src/client/c.ts', "import { x } from '@temporalio/worker';", false],
  ['src/cli/a.ts', "import { x } from '../client/b.js';", true],
  ['src/cli/b.ts', "import { x } from '../config.js';", true],
  ['src/cli/c.ts', "import { x } from '@temporalio/client';", true],
  ['src/cli/d.ts', "import { x } from '../provider/b.js';", false],
  ['src/cli/e.ts', "import { x } from '../../workflows/b.js';", false],
  ['src/cli/f.ts', "import { x } from '@temporalio/worker';", false],
  ['src/client/d.ts', "import { x } from '../cli/b.js';", false],
  ['src/webhook/a.ts', "import type { x } from '../client/b.js';", true],
  ['src/webhook/b.ts', "import { x } from '../client/b.js';", false],
  ['src/webhook/c.ts', "import { x } from '@temporalio/client';", false],
  ['sandbox/a.ts', "import { x } from '../src/webhook/signature.js';", true],
  ['sandbox/routes/b.ts', "import { x } from '../../src/webhook/signature.js';", true],
  ['sandbox/c.ts', "import { x } from '../src/webhook/handler.js';", false],
  ['sandbox/d.ts', "import { x } from '../src/webhook/server.js';", false],
  ['sandbox/e.ts', "import { x } from '../src/domain/money.js';", false],
  ['sandbox/f.ts', "import { x } from '../src/contract/names.js';", false],
  ['sandbox/g.ts', "import { x } from '../src/config.js';", false],
  ['sandbox/main.ts', "import { x } from '../src/config.js';", true],
  ['activities/a.ts', "import { x } from '../src/provider/b.js';", true],
  ['activities/b.ts', "import { x } from '../src/client/b.js';", false],
  ['activities/c.ts', "import { x } from '@temporalio/client';", false],
  ['activities/d.ts', "import { x } from '../workflows/b.js';", false],
  ['workers/a.ts', "import { x } from '../activities/index.js';", true],
  ['workers/b.ts', "import { x } from '../sandbox/b.js';", false],
  ['workers/c.ts', "import { x } from '../workflows/b.js';", false],
  ['tools/a.ts', "import { x } from '../src/client/b.js';", true],
  ['tools/b.ts', "import { x } from '../sandbox/b.js';", false],
  ['tools/demo/c.ts', "import { x } from '../../sandbox/control.js';", true],
  ['tools/demo/d.ts', "import { x } from '../../sandbox/control-api/b.js';", false],
];

const OTHER_FAULTS = {
  'src/client/floating.ts': 'async function pay(): Promise<void> {}\nexport function buy(): void {\n  pay();\n}\n',
  'src/client/misused.ts': 'export const all = [1].forEach(async () => undefined);\n',
  'src/client/loose.ts': 'export const loose: any = 1;\n',
  'src/client/cycle-a.ts': "import { b } from './cycle-b.js';\nexport const a = (): unknown => b;\n",
  'src/client/cycle-b.ts': "import { a } from './cycle-a.js';\nexport const b = (): unknown => a;\n",
};

const root = resolve(import.meta.dirname, '../..');
let folder: string;
let faults: { filename: string; code: string }[];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-lint-'));
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const [path, statement] of IMPORTS) write(path, `${statement.replace('import', 'export')}\n`);
  for (const [path, text] of Object.entries(OTHER_FAULTS)) write(path, text);
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

function codesOf(path: string): string[] {
  return faults.filter(({ filename }) => filename.endsWith(path)).map(({ code }) => code);
}

describe('the import matrix', () => {
  test.each(IMPORTS)('%s: %s (allowed: %s)', (path, _statement, allowed) => {
    const banned = codesOf(path).some((code) => code.includes('no-restricted-imports'));
    expect(banned).toBe(!allowed);
  });
});

describe('the lint settings', () => {
  test.each([
    ['src/client/floating.ts', 'no-floating-promises'],
    ['src/client/misused.ts', 'no-misused-promises'],
    ['src/client/loose.ts', 'no-explicit-any'],
    ['src/client/cycle-a.ts', 'no-cycle'],
  ])('%s breaks %s', (path, rule) => {
    expect(codesOf(path)).toEqual(expect.arrayContaining([expect.stringContaining(rule)]));
  });
});
