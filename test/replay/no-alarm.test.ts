import { expect, test } from 'vitest';
import { holdsCardData } from '../../src/contract/card-data.js';
import { inTurn } from '../support/counts.js';
import { type Plain, plain } from './decode.js';
import { goldenNames, readGolden } from './golden.js';

function textsOf(value: Plain | undefined): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Array.isArray(value)
    ? value.flatMap(textsOf)
    : [...Object.keys(value), ...Object.values(value).flatMap(textsOf)];
}

const taken = inTurn(6);

test('nothing that our own flows write reads like card data, wherever it stands', async () => {
  let looked = 0;
  // Each short run looks at a third.
  for (const name of goldenNames().filter((_name, index) => taken(index))) {
    const texts = textsOf(plain((await readGolden(name)).history));
    looked += texts.length;
    expect({ name, found: texts.filter(holdsCardData) }).toEqual({ name, found: [] });
  }
  expect(looked).toBeGreaterThan(10_000);
}, 60_000);
