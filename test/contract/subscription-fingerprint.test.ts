import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FLOWS } from '../../src/contract/flows.js';

const UUID = '3f0d1c52-9f5e-4a39-8b8e-5d1a7f0c2b11';
const LEAST = {
  reference: 'club-7',
  customerId: UUID,
  token: UUID,
  amount: 999,
  currency: 'EUR',
  interval: { every: 1, unit: 'month' as const },
  anchor: '2027-01-31',
  timeZone: 'Europe/Rome',
};
const print = (change: object = {}): string =>
  FLOWS.subscription.fingerprint(FLOWS.subscription.schema.parse({ ...LEAST, ...change }));

test('the fingerprint of a subscription is the SHA-256 that every other language can compute too', () => {
  const hash = (plan: string): string =>
    createHash('sha256')
      .update(`["subscription","club-7",999,"EUR","default","${UUID}","${UUID}",[${plan}]]`)
      .digest('hex');
  expect(print()).toBe(
    hash('1,"month","2027-01-31","Europe/Rome","10:00",0,null,null,3600000,null,null,null,null,null'),
  );
  const more = { periods: 12, jitter: 0, missedPeriods: 'skip', dunning: { retryDays: [1, 2], onGivenUp: 'pause' } };
  expect(print(more)).toBe(
    hash('1,"month","2027-01-31","Europe/Rome","10:00",0,12,null,0,"skip",[1,2],null,null,"pause"'),
  );
});

/** Where each example in another language writes what it counts of the plan. */
const EXAMPLES: readonly [file: string, plan: RegExp][] = [
  ['python/shop.py', /plan = \[(.*)\]/],
  ['go/shop.go', /plan := \[\]any\{(.*)\}/],
  ['java/src/main/java/shop/Shop.java', /plan =\s+Arrays\.asList\((.*)\);/],
];

test.each(EXAMPLES)('%s counts the plan that the flow counts, with its defaults', (file, plan) => {
  const [, values = ''] = plan.exec(readFileSync(new URL(`../../examples/${file}`, import.meta.url), 'utf8')) ?? [];
  const json = values
    .replace(/\bo\.|_/g, '')
    .replace(/\b(?:None|nil)\b/g, 'null')
    .replace(/\banchor\b/i, JSON.stringify(LEAST.anchor))
    .replace(/\b(?:time)?zone\b/i, JSON.stringify(LEAST.timeZone));
  const counted = FLOWS.subscription.subject(FLOWS.subscription.schema.parse(LEAST)).plan;
  expect(JSON.parse(`[${json}]`)).toEqual(counted);
});

test('amounts to come and metering stand at its end, and nowhere where they are not given', () => {
  const amounts = [{ fromPeriod: 4, amount: 1_200 }];
  const ends = [
    {},
    { billedThrough: 1 },
    { amounts },
    { billedThrough: 1, amounts },
    { metered: true, amount: undefined },
  ];
  expect(new Set(ends.map(print)).size).toBe(5);
  const plan = '1,"month","2027-01-31","Europe/Rome","10:00",0,null,null,3600000,null,null,null,null,null';
  const text = (amount: number, more: string) =>
    `["subscription","club-7",${amount},"EUR","default","${UUID}","${UUID}",[${plan},${more}]]`;
  const hash = (whole: string) => createHash('sha256').update(whole).digest('hex');
  expect(print({ billedThrough: 1, amounts })).toBe(hash(text(999, '1,[[4,1200]]')));
  expect(print({ metered: true, amount: undefined })).toBe(hash(text(0, 'true')));
  const notes = { notices: { beforeRenewal: 3 }, metadata: { tier: 'gold' } };
  expect(print(notes)).toBe(print());
});

test('it tells apart subscriptions that end on different days, after a number of periods, or never', () => {
  const ends = [{}, { endsOn: '2028-01-31' }, { endsOn: '2028-02-29' }, { periods: 12 }, { periods: 13 }];
  expect(new Set(ends.map(print)).size).toBe(5);
});

test('it is the same for what means the same', () => {
  for (const same of [{ billAt: '10:00' }, { jitter: '1 hour' }, { jitter: 3_600_000 }, { dunning: {} }]) {
    expect(print(same)).toBe(print());
  }
  expect(print({ notify: { url: 'https://shop.example/hook' }, statementSoftDescriptor: 'CLUB' })).toBe(print());
});
