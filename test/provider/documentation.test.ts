import { describe, expect, test } from 'vitest';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as provider from '../../src/provider/index.js';
import { startTestSandbox } from '../sandbox/support/sandbox.js';

const { API_VERSIONS, OPERATIONS, PROVIDER_ERROR_KINDS } = provider;

const page = await readFile(new URL('../../docs/provider.md', import.meta.url), 'utf8').then((text) =>
  text.replace(/ +/g, ' '),
);

describe('docs/provider.md', () => {
  test('its error table has one row for each kind, and no other', () => {
    const rows = [...page.matchAll(/^\| `(\w+)` \| (?:true|false|either)/gm)].map(([, kind]) => kind);
    expect(rows).toHaveLength(PROVIDER_ERROR_KINDS.length);
    expect(new Set(rows)).toEqual(new Set(PROVIDER_ERROR_KINDS));
  });

  test('its table of operations has each operation with method and path', () => {
    for (const [name, { method, path, since, keyed }] of Object.entries(OPERATIONS)) {
      expect(page).toContain(`| \`${name}\` | ${method} | \`${path}\` | ${since} | ${keyed ? 'yes' : 'no'} |`);
    }
  });

  test('it names every API version', () => {
    for (const version of API_VERSIONS) expect(page).toContain(version);
  });

  test('its examples work as they stand, one after the other', async () => {
    const sandbox = await startTestSandbox();
    try {
      const shown = await runExamples(sandbox.url);
      expect(shown).toEqual([
        ['created', 'VISA', '1111'],
        ['approve', expect.any(Number)],
        ['Succeed', undefined, expect.any(String)],
        ['Refunded', [expect.objectContaining({ status: 'Succeed', amount: 5000 })]],
        [expect.any(String), 1],
        ['Succeed', 'Succeed'],
        [undefined, 0],
        [expect.any(Array)],
        ['NotFound', 404, 'api_request_error', 'charges resource does not exits', expect.any(String), true],
      ]);
    } finally {
      await sandbox.close();
    }
  });
});

/** What the examples print, run as one program against the sandbox. */
async function runExamples(url: string): Promise<unknown[][]> {
  const text = await readFile(new URL('../../docs/provider.md', import.meta.url), 'utf8');
  const blocks = [...text.matchAll(/^```ts\n([^]*?)^```$/gm)].map(([, block = '']) => block);
  expect(blocks.length).toBeGreaterThan(9);
  const program = blocks
    .join('\n')
    .replace(/^import (\{.*\}) from 'holdfast\/provider';$/gm, 'const $1 = provider;')
    .replaceAll('http://127.0.0.1:4010', url);
  const wrapped = `export async function run(provider, console) {\n${program}\nawait client.close();\n}`;
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-page-'));
  const path = join(folder, 'page.ts');
  try {
    await writeFile(path, wrapped);
    const shown: unknown[][] = [];
    const module = (await import(path)) as {
      run(all: typeof provider, console: { log(...values: unknown[]): void }): Promise<void>;
    };
    await module.run(provider, { log: (...values) => void shown.push(values) });
    return shown;
  } finally {
    await rm(folder, { recursive: true });
  }
}
