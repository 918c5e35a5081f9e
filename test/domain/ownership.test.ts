import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import type { TransactionRecord } from '../../src/contract/records.js';
import { findOurs, isForeign } from '../../src/domain/ownership.js';

const OWN = { key: 'payment-order-1001:createCharge:1', reconciliationId: 'order-1001' };
type Echo = Partial<Pick<TransactionRecord, 'holdfastKey' | 'reconciliationId'>>;

function record(transactionId: string, echo: Echo = {}): TransactionRecord {
  return { transactionId, status: 'Succeed', ...echo };
}
const withKey = (id: string): TransactionRecord => record(id, { holdfastKey: OWN.key });
const withReference = (id: string): TransactionRecord => record(id, { reconciliationId: OWN.reconciliationId });
const withNothing = (id: string): TransactionRecord => record(id);
const withOtherKey = (id: string): TransactionRecord =>
  record(id, { holdfastKey: 'payment-order-1001:createCharge:2', reconciliationId: OWN.reconciliationId });
const withOtherReference = (id: string): TransactionRecord => record(id, { reconciliationId: 'order-2' });

describe('our transaction in a list', () => {
  test.each<[string, TransactionRecord[], string | undefined, string[] | undefined]>([
    ['nothing listed', [], undefined, undefined],
    ['the one with our key', [withNothing('a'), withKey('b'), withReference('c')], 'b', undefined],
    ['the one with our reference when no key is echoed', [withReference('a'), withOtherReference('b')], 'a', undefined],
    ['a single one where nothing is echoed', [withNothing('a')], 'a', undefined],
    ['one where nothing is echoed, beside those of others', [withOtherKey('a'), withNothing('b')], 'b', undefined],
    ['only one with another key: an echo that was changed looks like this', [withOtherKey('a')], undefined, ['a']],
    ['only one with another reference', [withOtherReference('a')], undefined, ['a']],
    ['two with our key', [withKey('a'), withKey('b')], undefined, ['a', 'b']],
    ['two with our reference', [withReference('a'), withReference('b')], undefined, ['a', 'b']],
    ['two that say nothing', [withNothing('a'), withNothing('b')], undefined, ['a', 'b']],
  ])('%s', (_name, records, found, ambiguous) => {
    const search = findOurs(records, OWN);
    expect(search.found?.transactionId).toBe(found);
    expect('ambiguous' in search ? search.ambiguous : undefined).toEqual(ambiguous);
  });

  test.each<[string, TransactionRecord[], ReturnType<typeof findOurs>]>([
    ['nothing listed', [], { found: undefined }],
    ['a single one that says nothing', [withNothing('a')], { found: withNothing('a') }],
    ['the one that says nothing', [withOtherReference('a'), withNothing('b')], { found: withNothing('b') }],
    [
      'several that say nothing: all that are listed may be ours',
      [withNothing('a'), withOtherKey('b'), withNothing('c')],
      { found: undefined, ambiguous: ['a', 'b', 'c'] },
    ],
    ['one with a reference', [withReference('a')], { found: undefined, ambiguous: ['a'] }],
  ])('of a flow without a reference: %s', (_name, records, search) => {
    expect(findOurs(records, { key: OWN.key })).toStrictEqual(search);
  });

  const echo: fc.Arbitrary<Echo> = fc
    .record({
      holdfastKey: fc.constantFrom(undefined, OWN.key, 'payment-order-1001:createCharge:2'),
      reconciliationId: fc.constantFrom(undefined, OWN.reconciliationId, 'order-2'),
    })
    .map((all) => Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)));
  const list = fc.array(echo, { maxLength: 6 }).map((echoes) => echoes.map((each, index) => record(`t${index}`, each)));

  test('is never one that says it belongs to another key or, without our key, to another reference', () => {
    fc.assert(
      fc.property(list, (records) => {
        const { found } = findOurs(records, OWN);
        if (found === undefined) return;
        expect([undefined, OWN.key]).toContain(found.holdfastKey);
        if (found.holdfastKey === undefined)
          expect([undefined, OWN.reconciliationId]).toContain(found.reconciliationId);
      }),
    );
  });

  test('is never taken for absent while the payment lists anything at all', () => {
    fc.assert(
      fc.property(list, (records) => {
        const search = findOurs(records, OWN);
        const absent = search.found === undefined && search.ambiguous === undefined;
        expect(absent).toBe(records.length === 0);
      }),
    );
  });

  test('is always the one with our key where the service echoes it to exactly one', () => {
    fc.assert(
      fc.property(list, fc.nat(6), (records, position) => {
        const others = records.filter(({ holdfastKey }) => holdfastKey !== OWN.key);
        expect(findOurs(others.toSpliced(position, 0, withKey('ours')), OWN).found?.transactionId).toBe('ours');
      }),
    );
  });

  test('does not depend on the order of the list, and is not guessed among several', () => {
    fc.assert(
      fc.property(list, (records) => {
        const forward = findOurs(records, OWN);
        const backward = findOurs(records.toReversed(), OWN);
        expect(backward.found).toEqual(forward.found);
        if (!('ambiguous' in forward) || forward.ambiguous === undefined) return;
        expect('ambiguous' in backward ? backward.ambiguous?.toSorted() : undefined).toEqual(
          forward.ambiguous.toSorted(),
        );
      }),
    );
  });
});

describe('a transaction of a payment to which others may write', () => {
  test.each<[string, Echo, boolean]>([
    ['echoes our key', { holdfastKey: OWN.key }, false],
    ['echoes our key and another reference', { holdfastKey: OWN.key, reconciliationId: 'order-2' }, false],
    ['echoes another key', { holdfastKey: 'payment-order-1001:createCharge:2' }, true],
    ['echoes another key and our reference', { holdfastKey: 'k', reconciliationId: OWN.reconciliationId }, true],
    ['echoes our reference alone', { reconciliationId: OWN.reconciliationId }, false],
    ['echoes another reference alone', { reconciliationId: 'order-2' }, true],
    ['echoes nothing, as where an echo was cut', {}, false],
  ])('that %s', (_name, echo, anothers) => {
    expect(isForeign(record('a', echo), OWN)).toBe(anothers);
  });

  test('says nothing by its reference to an operation that has none, such as a void', () => {
    expect(isForeign(withOtherReference('a'), { key: OWN.key })).toBe(false);
    expect(isForeign(withOtherKey('a'), { key: OWN.key })).toBe(true);
  });
});
