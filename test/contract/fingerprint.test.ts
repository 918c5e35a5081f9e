import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { anyText } from '../support/any-text.js';
import { fingerprint, type FingerprintParts } from '../../src/contract/idempotency.js';

const PARTS: FingerprintParts = {
  type: 'charge',
  reference: 'order-1001',
  amount: 1095,
  currency: 'USD',
  businessUnit: 'default',
  token: '3f0d1c52-9f5e-4a39-8b8e-5d1a7f0c2b11',
  customerId: '7d9a1f60-2c4b-4e8d-9a3f-6b5c4d3e2f10',
};

const text = fc.string({ maxLength: 12 });
const uuid = fc.option(fc.uuid(), { nil: undefined });
const parts: fc.Arbitrary<FingerprintParts> = fc.record({
  type: text,
  reference: text,
  amount: fc.maxSafeInteger(),
  currency: text,
  businessUnit: text,
  token: uuid,
  customerId: uuid,
});

describe('the fingerprint of a request', () => {
  test('is the SHA-256 that every other language can compute too', () => {
    const canonical =
      '["charge","order-1001",1095,"USD","default",' +
      '"3f0d1c52-9f5e-4a39-8b8e-5d1a7f0c2b11","7d9a1f60-2c4b-4e8d-9a3f-6b5c4d3e2f10"]';
    expect(fingerprint(PARTS)).toBe(createHash('sha256').update(canonical).digest('hex'));
  });

  test('has not changed since the first release, since histories and memos hold it', () => {
    expect(fingerprint(PARTS)).toBe('37a43efbbc45a97fab53f1cbeb44467f11312cb8b4e7d9592cb0c6d516b4386a');
    expect(fingerprint({ ...PARTS, token: undefined, customerId: undefined })).toBe(
      '4f3e758208841d23e68a32deb9f6fa27654af73417abc9a059a04b5ec4f36e3a',
    );
  });

  test('agrees with SHA-256 over the canonical text for any parts, in any script', () => {
    const unicode = fc.record({
      ...Object.fromEntries(['type', 'reference', 'currency', 'businessUnit'].map((name) => [name, anyText()])),
      amount: fc.maxSafeInteger(),
    }) as fc.Arbitrary<FingerprintParts>;
    fc.assert(
      fc.property(unicode, (any) => {
        const list = [any.type, any.reference, any.amount, any.currency, any.businessUnit, null, null];
        expect(fingerprint(any)).toBe(createHash('sha256').update(JSON.stringify(list)).digest('hex'));
      }),
    );
  });

  test('does not depend on the order of the parts, on letter case of ids, or on absent parts being named', () => {
    fc.assert(
      fc.property(parts, (any) => {
        const turned = Object.fromEntries(Object.entries(any).toReversed()) as unknown as FingerprintParts;
        expect(fingerprint(turned)).toBe(fingerprint(any));
        const upper = { ...any, token: any.token?.toUpperCase(), customerId: any.customerId?.toUpperCase() };
        expect(fingerprint(upper)).toBe(fingerprint(any));
        const present = Object.entries(any).filter(([, value]) => value !== undefined);
        expect(fingerprint(Object.fromEntries(present) as unknown as FingerprintParts)).toBe(fingerprint(any));
      }),
    );
  });

  test('differs when one part differs', () => {
    fc.assert(
      fc.property(
        parts,
        parts,
        fc.constantFrom(...(Object.keys(PARTS) as (keyof FingerprintParts)[])),
        (a, b, name) => {
          fc.pre(a[name] !== b[name]);
          expect(fingerprint({ ...a, [name]: b[name] })).not.toBe(fingerprint(a));
        },
      ),
    );
  });

  test('keeps the case of an id that is no UUID: two customers of another scheme stay two', () => {
    const uuid = '7d9a1f60-2c4b-4e8d-9a3f-6b5c4d3e2f1a';
    for (const customerId of ['kunde-7', `a${uuid}`, `${uuid}a`, uuid.slice(1)]) {
      const upper = customerId.toUpperCase();
      expect(fingerprint({ ...PARTS, customerId: upper })).not.toBe(fingerprint({ ...PARTS, customerId }));
    }
  });

  test('can not be made equal by moving characters from one part to another', () => {
    expect(fingerprint({ ...PARTS, type: 'charge"', reference: 'order' })).not.toBe(
      fingerprint({ ...PARTS, type: 'charge', reference: '"order' }),
    );
    expect(fingerprint({ ...PARTS, token: 'null' })).not.toBe(fingerprint({ ...PARTS, token: undefined }));
    expect(fingerprint({ ...PARTS, token: undefined })).not.toBe(
      fingerprint({ ...PARTS, token: PARTS.customerId, customerId: undefined }),
    );
  });
});
