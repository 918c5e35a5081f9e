import { expect, test } from 'vitest';
import { createPlaces } from '../../src/domain/places.js';

const take = (places: ReturnType<typeof createPlaces>, unit: string, many: number): number => {
  let got = 0;
  for (let left = many; left > 0; left -= 1) got += places(unit) === undefined ? 0 : 1;
  return got;
};

test('one of several units gets half of the places, and all units together get all', () => {
  const places = createPlaces(256, 3);
  expect(take(places, 'busy', 300)).toBe(128);
  expect(take(places, 'other', 100)).toBe(100);
  expect(take(places, 'third', 100)).toBe(28);
});

test('the only unit gets all places, and the only place of a small handler can be taken by any unit', () => {
  expect(take(createPlaces(256, 1), 'default', 300)).toBe(256);
  const one = createPlaces(1, 2);
  const giveBack = one('default');
  expect(one('other')).toBeUndefined();
  giveBack?.();
  expect(one('other')).toBeDefined();
});

test('a place that is given back is its unit’s again, however often places were refused', () => {
  const places = createPlaces(4, 2);
  const back = [places('default'), places('default')];
  expect(take(places, 'default', 5)).toBe(0);
  for (const giveBack of back) giveBack?.();
  expect(take(places, 'default', 5)).toBe(2);
  expect(take(places, 'other', 5)).toBe(2);
});
