import { describe, expect, test } from '@jest/globals';
import { readFile } from 'node:fs/promises';
import { API_VERSIONS, OPERATIONS, PROVIDER_ERROR_KINDS } from '../../src/provider/index.js';

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
    for (const [name, { method, path }] of Object.entries(OPERATIONS)) {
      expect(page).toContain(`| \`${name}\` | ${method} | \`${path}\` |`);
    }
  });

  test('it names every API version', () => {
    for (const version of API_VERSIONS) expect(page).toContain(version);
  });
});
