import { expect, test } from 'vitest';
import { describe as described, loadConfig } from '../../src/config/index.js';
import { unitTerms } from '../../workers/providers.js';
import { env, faultsOf, units, UNITS } from './support.js';

const withLimits = (outgoing: unknown) => env(units({ default: { ...UNITS.default, outgoing } }));
const UNIT = 'HOLDFAST_BUSINESS_UNITS: default: outgoing';
const faults = (outgoing: unknown) =>
  faultsOf(() => loadConfig(withLimits(outgoing))).map((fault) => fault.replace(UNIT, ''));

test('a unit limits what it sends to cards, and its activities are given that', () => {
  const limits = { perCall: { EUR: 50_000 }, perDay: { EUR: 200_000, JPY: 0 }, refundsPerCard: 3 };
  const config = loadConfig(withLimits({ ...limits, approveWithin: '12 hours' }));
  expect(unitTerms(config).get('default')).toMatchObject({ outgoing: { ...limits, approveWithinMs: 12 * 3_600_000 } });
  expect(described(config).join('\n')).toContain('limits what it sends to cards');
  const byDefault = unitTerms(loadConfig(withLimits({ refundsPerCard: 0 }))).get('default');
  expect(byDefault?.outgoing).toEqual({ refundsPerCard: 0, approveWithinMs: 3 * 86_400_000 });
  expect(unitTerms(loadConfig(env(units({ default: UNITS.default })))).get('default')).not.toHaveProperty('outgoing');
});

test('every fault of its limits is listed at once', () => {
  expect(
    faults({
      perCall: { EURO: 1, USD: 10.5 },
      perDay: { EUR: -1 },
      refundsPerCard: -1,
      approveWithin: '31 days',
      perWeek: {},
    }),
  ).toEqual([
    '.perCall.USD: is not a whole number of minor units, 0 or more',
    '.perCall.EURO: is no ISO 4217 currency code, such as EUR',
    '.perDay.EUR: is not a whole number of minor units, 0 or more',
    '.refundsPerCard: must not be negative',
    '.approveWithin: is not a duration from "1 minute" to "30 days"',
    expect.stringContaining('perWeek'),
  ]);
  expect(faults({})).toEqual([': names no limit: give perCall, perDay or refundsPerCard, or leave it out']);
});

test('a unit with limits names no risk unit without any: payments with risk would have none', () => {
  const outgoing = { perCall: { EUR: 50_000 } };
  const faultsWith = (riskUnit: string, ofRisk: object) => {
    const risky = { appId: 'app-2', privateKey: 'private-2', ...ofRisk };
    return faultsOf(() => loadConfig(env(units({ default: { ...UNITS.default, outgoing, riskUnit }, risky }))));
  };
  expect(faultsWith('risky', {})).toEqual([
    'HOLDFAST_BUSINESS_UNITS: default: outgoing does not count for payments with risk, which are created under "risky"; give that unit limits too',
  ]);
  expect(faultsWith('risky', { outgoing: { refundsPerCard: 3 } })).toEqual([]);
  expect(faultsWith('default', {})).toEqual([]);
});
