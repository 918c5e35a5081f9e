import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { bundleWorkflowCode } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WORKFLOW_TYPES } from '../../src/contract/names.js';
import { atFullCounts } from '../support/at-full-counts.js';
import { bundlePath } from '../support/temporal.js';

const root = resolve(import.meta.dirname, '../..');
/** Below the project, so that the planted workflows find the SDK. */
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(root, 'node_modules', '.holdfast-bundle-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What the bundler says against this code; empty when it makes a bundle of it. */
async function objections(code: string): Promise<string> {
  const workflowsPath = join(folder, 'workflows.js');
  writeFileSync(workflowsPath, code);
  const said: string[] = [];
  const say = (message: string): void => void said.push(message);
  const logger = { log: () => {}, trace: () => {}, debug: () => {}, info: () => {}, warn: say, error: say };
  return bundleWorkflowCode({ workflowsPath, logger }).then(
    () => '',
    (error: Error) => [error.message, ...said].join('\n'),
  );
}

describe('the workflow bundle', () => {
  // The bundler itself refuses modules that the sandbox must not have, as the next test shows.
  test('was made of what reaches no module of Node, and holds every workflow type', () => {
    const code = readFileSync(bundlePath(), 'utf8');
    for (const type of Object.values(WORKFLOW_TYPES)) expect(code).toMatch(new RegExp(`\\b${type}\\b`));
  });

  atFullCounts('could not be made of a workflow that reaches one', async () => {
    const flow = 'export async function flow() {}\n';
    expect(await objections(flow)).toBe('');
    const names = ['node:crypto', 'fs', 'node:http'];
    const reaching = names.map(
      (name, index) => `import * as reached${index} from '${name}';\nexport { reached${index} };\n`,
    );
    const said = await objections(`${reaching.join('')}${flow}`);
    for (const name of names) expect(said).toContain(name);
  });
});
