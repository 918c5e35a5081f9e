import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { describe, expect, test } from 'vitest';

const FOLDER = resolve(import.meta.dirname, '../../src/contract');
const files = readdirSync(FOLDER, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'));
const ALLOWED_PACKAGES = /^(zod|@noble\/hashes)(\/|$)/;

/** Every way of importing that TypeScript has; comments are taken out first. */
function importsOf(source: string): string[] {
  const patterns = [
    /\bfrom\s*['"]([^'"]+)['"]/g,
    /\bimport\s*['"]([^'"]+)['"]/g,
    /\b(?:import|require)\s*\(\s*['"]([^'"]+)['"]/g,
  ];
  return patterns.flatMap((pattern) => [...source.matchAll(pattern)].map((match) => match[1] ?? ''));
}

function codeOf(file: string): string {
  return readFileSync(join(FOLDER, file), 'utf8')
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/(^|\s)\/\/.*$/gm, '$1');
}

function isPure(file: string, specifier: string): boolean {
  if (!specifier.startsWith('.')) return ALLOWED_PACKAGES.test(specifier);
  const target = relative(FOLDER, resolve(dirname(join(FOLDER, file)), specifier));
  return !target.startsWith('..') && !target.startsWith(sep);
}

describe('the contract', () => {
  test('is looked at as a whole', () => {
    expect(files).toEqual(expect.arrayContaining(['charge.ts', 'fingerprint.ts', 'names.ts']));
    expect(importsOf(codeOf('charge.ts'))).toEqual(expect.arrayContaining(['zod', './payment-input.js']));
    expect(importsOf(codeOf('fingerprint.ts'))).toEqual(expect.arrayContaining(['@noble/hashes/sha2.js']));
  });

  test.each(files)('%s imports nothing but the contract, zod and @noble/hashes', (file) => {
    expect(importsOf(codeOf(file)).filter((specifier) => !isPure(file, specifier))).toEqual([]);
  });

  test.each(files)('%s asks neither the clock, chance, the process nor the network', (file) => {
    const impure =
      /\b(?:Date\.now|new Date|Math\.random|process|globalThis|Buffer|setTimeout|fetch|crypto|performance|Intl)\b(?=[.(\s])/g;
    expect(codeOf(file).match(impure) ?? []).toEqual([]);
  });
});

describe('the check itself', () => {
  test.each([
    ["import { x } from '../domain/money.js';", false],
    ["import x from 'node:crypto';", false],
    ["import 'undici';", false],
    ["const x = await import('@temporalio/client');", false],
    ["export { x } from '../provider/index.js';", false],
    ["import { z } from 'zod';", true],
    ["import { z } from 'zodiac';", false],
    ["import type { X } from './names.js';", true],
  ])('%s is pure: %s', (statement, pure) => {
    expect(importsOf(statement).every((specifier) => isPure('charge.ts', specifier))).toBe(pure);
    expect(importsOf(statement)).toHaveLength(1);
  });
});
