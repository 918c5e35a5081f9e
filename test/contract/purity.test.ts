import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';

const FOLDER = resolve(import.meta.dirname, '../../src/contract');
const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));

function codeOf(file: string): string {
  return readFileSync(join(FOLDER, file), 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '$1');
}

// What the contract imports is limited by `.dependency-cruiser.mjs`.
test.each(files)('%s asks neither the clock, chance, the process nor the network', (file) => {
  const impure =
    /\b(?:Date\.now|new Date|Math\.random|process|globalThis|Buffer|setTimeout|fetch|crypto|performance|Intl)\b(?=[.(\s])/g;
  expect(codeOf(file).match(impure) ?? []).toEqual([]);
});
