import { expect, test } from 'vitest';
import { describe as described, loadConfig } from '../../src/config/index.js';
import { unitTerms } from '../../workers/providers.js';
import { env, faultsOf, units, UNITS } from './support.js';

const withDeclines = (declines: unknown) => env(units({ default: { ...UNITS.default, declines } }));
const UNIT = 'HOLDFAST_BUSINESS_UNITS: default: declines.';
/** Without the words that all of them begin with. */
const faults = (declines: unknown) =>
  faultsOf(() => loadConfig(withDeclines(declines))).map((fault) =>
    fault.startsWith(UNIT) ? fault.slice(UNIT.length) : fault,
  );

const TABLE = {
  categories: { provider_error: 'hard', payment_method_error: 'soft' },
  subCategories: { expired_card: 'hard', insufficient_funds: 'unknown', stolen_card_pick_up: 'hard' },
  unknown: 'merchant',
};

test('a unit says how its declines count, and its activities are given it', () => {
  const config = loadConfig(withDeclines({ ...TABLE, cap: { tries: 3, days: 7 } }));
  expect(unitTerms(config).get('default')).toMatchObject({ declines: TABLE, cardCap: { tries: 3, days: 7 } });
  expect(described(config).join('\n')).toContain(
    'provider_error is hard, payment_method_error is soft, expired_card is hard, insufficient_funds is unknown, ' +
      'stolen_card_pick_up is hard, others is merchant, a card is declined 3 times in 7 days at most',
  );
});

test.each([undefined, {}, { cap: { tries: 1, days: 1 } }])('a unit without a table records none: %j', (declines) => {
  expect(unitTerms(loadConfig(withDeclines(declines))).get('default')).not.toHaveProperty('declines');
});

test('every fault of a table is listed at once', () => {
  const found = faults({
    categories: { payment_method_declned: 'soft', provider_error: 'softish', provider_network_error: 'hard' },
    subCategories: { payment_method_error: 'soft', 'Insufficient Funds': 'soft', expired_card: 1 },
    unknown: 'unknown',
    cap: { tries: 0, days: 31 },
    limit: 3,
  });
  expect(found).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^categories\.payment_method_declned: is no category of a decline/),
      'categories.provider_error: is none of soft, hard, merchant, unknown',
      expect.stringMatching(/^categories\.provider_network_error: is no category of a decline/),
      'subCategories.payment_method_error: is a category; put it under categories',
      'subCategories.Insufficient Funds: is no name of a sub-category, such as insufficient_funds',
      'subCategories.expired_card: is none of soft, hard, merchant, unknown',
      'unknown: is none of soft, hard, merchant',
      'cap.tries: must be at least 1: with fewer no card could be charged',
      'cap.days: must be at most 30',
      'limit: unknown field',
    ]),
  );
  expect(found).toHaveLength(10);
  expect(found.join('\n')).toContain('use one of payment_method_declined, payment_method_error, ');
});

test.each([
  [{ tries: 15, days: 30 }, []],
  [{ tries: 16, days: 30 }, ['tries']],
  [{ tries: 15, days: 2 }, []],
  [{ tries: 16, days: 1 }, ['tries']],
  [{ tries: 10, days: 1 }, []],
  [{ tries: 11, days: 1 }, ['tries']],
  [{ tries: 1, days: 1 }, []],
  [{ tries: -1, days: 0 }, ['tries', 'days']],
])('a limit of %j is refused for %j', (cap, fields) => {
  const found = faults({ cap });
  expect(found.map((fault) => /^cap\.(\w+): /.exec(fault)?.[1])).toEqual(fields);
  if (cap.tries > 10) {
    for (const fault of found)
      expect(fault).toContain('above what card schemes allow: 15 in 30 days (Visa) and 10 in 24 hours (Mastercard)');
  }
});

const HARD = [
  'lost_stolen_card',
  'transaction_denied_by_cardholder',
  'pick_up_card',
  'pickup_card',
  'stolen',
  'lost_card',
];
test.each(HARD)('%s can be nothing but hard', (name) => {
  for (const kind of ['soft', 'unknown', 'merchant']) {
    expect(faults({ subCategories: { [name]: kind } })).toEqual([
      expect.stringContaining(`subCategories.${name}: can only be hard: card schemes forbid another try`),
    ]);
  }
  expect(faults({ subCategories: { [name]: 'hard' } })).toEqual([]);
});

test('a table of more entries than a history should carry is refused', () => {
  const many = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`reason_${at}`, 'hard']));
  expect(faults({ subCategories: many(50) })).toEqual([]);
  expect(faults({ subCategories: many(51) })).toEqual(['subCategories: has more than 50 entries']);
});
