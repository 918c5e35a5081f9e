import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** One forbidden import for each rule of `.dependency-cruiser.mjs`, two where it limits packages as well. */
const FORBIDDEN: readonly [rule: string, importer: string, statement: string][] = [
  ['contract', 'src/contract/a.ts', "import { x } from '../domain/x.js';"],
  ['contract', 'src/contract/b.ts', "import { x } from 'node:fs';"],
  ['domain', 'src/domain/a.ts', "import { x } from '../provider/x.js';"],
  ['domain', 'src/domain/b.ts', "import { x } from 'undici';"],
  ['workflows', 'workflows/a.ts', "import type { x } from '../activities/x.js';"],
  ['workflows', 'workflows/steps/b.ts', "import { x } from 'node:crypto';"],
  ['provider', 'src/provider/a.ts', "import { x } from '../client/x.js';"],
  ['provider', 'src/provider/b.ts', "import { x } from '@temporalio/common';"],
  ['security', 'src/security/a.ts', "import { x } from '../config/x.js';"],
  ['security', 'src/security/b.ts', "import { x } from '@temporalio/client';"],
  ['config', 'src/config/a.ts', "import { x } from '../provider/x.js';"],
  ['config', 'src/config/b.ts', "import { x } from '@temporalio/envconfig';"],
  ['client', 'src/client/a.ts', "import { x } from '../webhook/x.js';"],
  ['client', 'src/client/b.ts', "import { x } from '@temporalio/worker';"],
  ['cli', 'src/cli/a.ts', "import { x } from '../../workflows/x.js';"],
  ['cli', 'src/cli/b.ts', "import { x } from '@temporalio/worker';"],
  ['reference-book', 'src/reference-book/a.ts', "import { x } from '../client/x.js';"],
  ['reference-book', 'src/reference-book/b.ts', "import { x } from 'undici';"],
  ['webhook', 'src/webhook/a.ts', "import type { x } from '../client/x.js';"],
  ['webhook', 'src/webhook/b.ts', "import { x } from '@temporalio/client';"],
  ['index', 'src/index.ts', "export { x } from './webhook/x.js';"],
  ['activities', 'activities/a.ts', "import { x } from '../workflows/x.js';"],
  ['activities', 'activities/b.ts', "import { x } from '@temporalio/client';"],
  ['workers', 'workers/a.ts', "const x = await import('../workflows/x.js');"],
  ['sandbox', 'sandbox/a.ts', "import { x } from '../src/webhook/handler.js';"],
  ['sandbox', 'sandbox/b.ts', "import { x } from '@temporalio/client';"],
  ['sandbox', 'sandbox/main.ts', "import { x } from '../workers/process.js';"],
  ['testing', 'tools/testing/a.ts', "import { x } from '../../src/webhook/x.js';"],
  ['sandbox-openapi', 'tools/sandbox-openapi.ts', "import { x } from '../sandbox/server.js';"],
  ['tools', 'tools/demo/a.ts', "import { x } from '../../sandbox/server.js';"],
  ['tools', 'tools/b.mjs', "import '../src/cli/x.js';"],
  ['core-on-demand', 'src/cli/d.ts', "import { x } from '../../workers/replay-histories.js';"],
  ['no-cycles', 'src/client/d.ts', "import type { x } from './imports-d.js';"],
  ['resolvable', 'test/a.ts', "import { x } from './nowhere/at-all.mjs';"],
  ['declared', 'test/b.ts', "import { x } from '@temporalio/nexus';"],
  ['installed-in-production', 'workers/b.ts', "import { x } from 'fast-check';"],
];

const ALLOWED: readonly [importer: string, statement: string][] = [
  ['src/contract/c.ts', "import { x } from '@noble/hashes/sha2.js';"],
  ['workflows/c.ts', "import { x } from '../src/domain/x.js';"],
  ['workflows/d.ts', "import { x } from '@temporalio/workflow';"],
  ['src/cli/c.ts', "import { x } from '../config/x.js';"],
  ['src/cli/e.ts', "const x = await import('../../workers/replay-histories.js');"],
  ['src/client/c.ts', "import { x } from 'node:fs';"],
  ['activities/c.ts', "import { x } from 'undici';"],
  ['sandbox/routes/c.ts', "import { x } from '../../src/webhook/signature.js';"],
  ['tools/demo/c.ts', "import { x } from '../../sandbox/control.js';"],
  ['tools/bench/c.ts', "import { x } from '../../workers/x.js';"],
];

interface Cruise {
  violations: { from: string; rule: { name: string } }[];
  ruleSetUsed: { forbidden: { name: string }[] };
}

const root = resolve(import.meta.dirname, '../..');
let folder: string;
let cruise: Cruise;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdfast-imports-'));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  copyFileSync(join(root, 'package.json'), join(folder, 'package.json'));
  write('src/client/imports-d.ts', "import type { x } from './d.js';\n");
  const planted = [...FORBIDDEN.map(([, path, statement]) => [path, statement] as const), ...ALLOWED];
  for (const [path, statement] of planted) write(path, `${statement}\n`);
  for (const [path, statement] of planted) {
    const [, target] = /'(\.[^']+)\.js'/.exec(statement) ?? [];
    if (target !== undefined) write(join(dirname(path), `${target}.ts`), 'export const x = 1;\n');
  }
  cruise = runTool();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function write(path: string, text: string): void {
  const file = join(folder, path);
  if (existsSync(file)) return;
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

function runTool(): Cruise {
  const tool = join(root, 'node_modules', 'dependency-cruiser', 'bin', 'dependency-cruise.mjs');
  const folders = ['src', 'workflows', 'activities', 'workers', 'sandbox', 'tools', 'test'];
  const args = [tool, '--config', join(root, '.dependency-cruiser.mjs'), '--output-type', 'json', ...folders];
  const { stdout, stderr } = spawnSync(process.execPath, args, { cwd: folder, encoding: 'utf8' });
  expect(stderr).toBe('');
  return (JSON.parse(stdout) as { summary: Cruise }).summary;
}

const rulesBrokenBy = (path: string): string[] =>
  cruise.violations.filter(({ from }) => from === path).map(({ rule }) => rule.name);

describe('who may import whom', () => {
  test.each(FORBIDDEN)('%s forbids %s: %s', (rule, path) => expect(rulesBrokenBy(path)).toEqual([rule]));

  test.each(ALLOWED)('nothing forbids %s: %s', (path) => expect(rulesBrokenBy(path)).toEqual([]));

  test('is said by rules of which each is broken above', () => {
    const rules = cruise.ruleSetUsed.forbidden.map(({ name }) => name);
    expect(new Set(FORBIDDEN.map(([rule]) => rule))).toEqual(new Set(rules));
  });
});
