import { expect, it } from 'vitest';
import { Recent } from '../../src/webhook/bounded.js';

it('remembers at least half of its entries, the latest, and never more than all', () => {
  const recent = new Recent<number, true>(10);
  for (let key = 0; key < 100; key += 1) {
    recent.set(key, true);
    const known = Array.from({ length: key + 1 }, (_, at) => at).filter((at) => recent.get(at) === true);
    expect(known.length).toBeLessThanOrEqual(10);
    expect(known.slice(-5)).toEqual(Array.from({ length: key + 1 }, (_, at) => at).slice(-5));
  }
});

it('takes an entry that is set again for a new one', () => {
  const recent = new Recent<string, number>(4);
  recent.set('a', 1);
  for (const other of ['b', 'c']) recent.set(other, 0);
  recent.set('a', 2);
  recent.set('d', 0);
  expect(recent.get('a')).toBe(2);
});
