import { describe, expect, test } from 'vitest';
import {
  isReadableElsewhere,
  isRefusedInClear,
  isSealed,
  markRefused,
  markSealed,
  undecodable,
  type Undecodable,
  UNDECODABLE_REASONS,
  whyUndecodable,
} from '../../src/contract/payload-marks.js';

/** Everything that JSON can hold and that no mark can be put on, and what was never decoded at all. */
const NO_OBJECTS: readonly unknown[] = [null, undefined, 'order-1001', '', 1095, 0, true, false];

describe.each([
  ['received encrypted', markSealed, isSealed, isRefusedInClear],
  ['refused because it came in clear', markRefused, isRefusedInClear, isSealed],
] as const)('a value marked as %s', (_name, mark, isMarked, isOtherwiseMarked) => {
  test.each([[{ amount: 1095 }], [[1095]], [{}]])('carries that mark and no other: %j', (value) => {
    expect([isMarked(value), isOtherwiseMarked(value)]).toEqual([false, false]);
    expect(mark(value)).toBe(value);
    expect([isMarked(value), isOtherwiseMarked(value)]).toEqual([true, false]);
  });

  test('has the fields and the JSON it had before, so that the same input is the same request', () => {
    const value = mark({ reference: 'order-1001', amount: 1095 });
    expect(Object.keys(value)).toEqual(['reference', 'amount']);
    expect(JSON.stringify(value)).toBe('{"reference":"order-1001","amount":1095}');
    expect({ ...value }).toEqual({ reference: 'order-1001', amount: 1095 });
  });

  test('loses its mark with every copy, so that a mark never comes to another value', () => {
    const value = mark({ amount: 1095 });
    expect(isMarked({ ...value })).toBe(false);
    expect(isMarked(JSON.parse(JSON.stringify(value)))).toBe(false);
  });

  test.each(NO_OBJECTS)('is given back as it came where it is no object: %p', (value) => {
    expect(mark(value)).toBe(value);
    expect(isMarked(value)).toBe(false);
  });
});

test.each([
  { 'holdfast.sealed': true, 'holdfast.refused': true },
  { 'holdfast-sealed': true, 'holdfast-refused': true },
  { 'Symbol(holdfast.sealed)': true, 'Symbol(holdfast.refused)': true },
])('nobody forges a mark by what a payload says of itself: %j', (forged) => {
  const received: unknown = JSON.parse(JSON.stringify(forged));
  expect([isSealed(received), isRefusedInClear(received)]).toEqual([false, false]);
});

describe('a payload that this worker can not decode', () => {
  const OTHER_KEYS = ['unknown key id', 'authentication failed', 'unknown format'];

  test.each(UNDECODABLE_REASONS)(
    'for the reason "%s" is left to other workers only if their keys may help',
    (reason) => {
      expect(isReadableElsewhere(markSealed(undecodable(reason)))).toBe(OTHER_KEYS.includes(reason));
    },
  );

  test.each(UNDECODABLE_REASONS)('holds no flow up by text in clear that only looks like it: %s', (reason) => {
    expect(isReadableElsewhere(undecodable(reason))).toBe(false);
    expect(isReadableElsewhere({ holdfastUndecodable: reason })).toBe(false);
  });

  test.each([{ amount: 1095 }, { holdfastUndecodable: 'a reason of tomorrow' }, {}])(
    'is not seen in a value that was decrypted: %j',
    (value) => {
      expect(isReadableElsewhere(markSealed(value))).toBe(false);
    },
  );

  test.each(NO_OBJECTS)('is not seen in %p', (value) => {
    expect(isReadableElsewhere(value)).toBe(false);
  });

  test.each(['k2', 'K', 'payments_2027-01.eu', 'k'.repeat(32)])('names the key that is missing: %s', (keyId) => {
    expect(undecodable('unknown key id', keyId)).toStrictEqual({ holdfastUndecodable: 'unknown key id', keyId });
  });

  test.each([undefined, '', 'k'.repeat(33), 'a key', 'k2\n', 'c2VjcmV0IGtleQ==', 'schlüssel'])(
    'never repeats what is no id of a key, which may be the key itself: %j',
    (keyId) => {
      expect(undecodable('authentication failed', keyId)).toStrictEqual({
        holdfastUndecodable: 'authentication failed',
      });
    },
  );
});

describe('what people are told of a payload that can not be decoded', () => {
  test.each<[Undecodable, string]>([
    [{ holdfastUndecodable: 'unknown key id', keyId: 'k2' }, 'unknown key id "k2"'],
    [{ holdfastUndecodable: 'authentication failed', keyId: 'k2' }, 'authentication failed, key id "k2"'],
    [{ holdfastUndecodable: 'unknown format', keyId: 'k'.repeat(32) }, `unknown format, key id "${'k'.repeat(32)}"`],
    [{ holdfastUndecodable: 'unknown key id' }, 'unknown key id'],
    [{ holdfastUndecodable: 'malformed' }, 'malformed'],
  ])('%j is put as: %s', (value, text) => {
    expect(whyUndecodable(value)).toBe(text);
  });

  test.each([['k'.repeat(33)], ['two words'], [''], [7], [['k2']], [null], [{}]])(
    'leaves out the key id %j, which a payload from elsewhere may hold',
    (keyId) => {
      const received = { holdfastUndecodable: 'unknown key id', keyId } as unknown as Undecodable;
      expect(whyUndecodable(received)).toBe('unknown key id');
    },
  );
});
