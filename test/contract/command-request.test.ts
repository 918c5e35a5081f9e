import { describe, expect, test } from 'vitest';
import { canonical } from '../../src/contract/idempotency.js';
import { billNowSchema } from '../../src/contract/subscription-commands.js';
import { faults } from './examples.js';

describe('two commands are the same request', () => {
  const CANONICAL = '[["amount",500],["captureId","c-1"],["currency","EUR"]]';

  test.each([
    { amount: 500, captureId: 'c-1', currency: 'EUR' },
    { currency: 'EUR', captureId: 'c-1', amount: 500 },
    { captureId: 'c-1', amount: 500, currency: 'EUR' },
    { captureId: 'c-1', currency: 'EUR', amount: 500 },
  ])('in whatever order their fields stand: %j', (request) => {
    expect(canonical(request)).toBe(CANONICAL);
  });

  test('whoever sends them, for whatever reason and under whatever id', () => {
    const sent = { who: 'ada', amount: 500, why: 'broken', captureId: 'c-1', commandId: 'refund-1', currency: 'EUR' };
    expect(canonical(sent)).toBe(CANONICAL);
    expect(canonical({ who: 'ada', why: 'late', commandId: 'void-1' })).toBe('[]');
  });

  test('and not if they move another amount, or one of them leaves it to us', () => {
    expect(canonical({ amount: 501, captureId: 'c-1', currency: 'EUR' })).not.toBe(CANONICAL);
    expect(canonical({ captureId: 'c-1', currency: 'EUR' })).toBe('[["captureId","c-1"],["currency","EUR"]]');
  });
});

describe('billing a period that may have been paid already', () => {
  const NEEDED = 'is needed with confirmRisk: the period may be billed twice';
  const BY = { who: 'ada', why: 'the bank shows no payment' };

  test.each<[string, object, string[]]>([
    ['needs nobody who answers for it where that risk is not confirmed', { period: 3 }, []],
    ['needs somebody who answers for it', { period: 3, confirmRisk: true }, [`who: ${NEEDED}`, `why: ${NEEDED}`]],
    ['needs a reason', { period: 3, confirmRisk: true, who: BY.who }, [`why: ${NEEDED}`]],
    ['needs a name', { period: 3, confirmRisk: true, why: BY.why }, [`who: ${NEEDED}`]],
    ['may be done by somebody, with a reason', { period: 3, confirmRisk: true, ...BY }, []],
  ])('%s', (_name, command, expected) => {
    expect(faults(billNowSchema, command)).toEqual(expected);
  });
});
