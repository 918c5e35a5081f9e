import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fullOr } from '../support/counts.js';
import {
  anotherCard,
  bills,
  declinedFor,
  inRome,
  later,
  localDay,
  monthly,
  plantOn,
  ROME,
  subscribe,
} from '../support/subscriptions.js';
import { startVirtualTime, type VirtualTime } from '../support/virtual-time.js';

/** With the leap day of the year after it. */
const MONTHS = fullOr(36, 14);
/** Years before and after the one in which much goes wrong. */
const CALM_BEFORE = fullOr(1, 0);
const CALM_AFTER = fullOr(1, 0);
let time: VirtualTime;
beforeAll(async () => {
  time = await startVirtualTime({ billing: true });
});
afterAll(async () => {
  await time?.close();
});

/** Lets time pass until 20 January of the year before the next leap year. */
async function beforeLeapYear(): Promise<number> {
  const today = localDay(await time.now(), ROME);
  let year = Number(today.slice(0, 4));
  while (year % 4 !== 3 || today > `${year}-01-20`) year += 1;
  await time.passUntil(inRome(`${year}-01-20`));
  return year;
}

/** The last day of each of `count` months from January of `year`. */
const lastDays = (year: number, count: number): string[] =>
  Array.from({ length: count }, (_, month) => new Date(Date.UTC(year, month + 1, 0)).toISOString().slice(0, 10));

/** The bills of `years` years on the 15th of each month, from period `first` on. */
function calmYears(from: number, years: number, first: number): string[] {
  return Array.from({ length: years * 12 }, (_, index) => {
    const day = new Date(Date.UTC(from, index, 15)).toISOString().slice(0, 10);
    return `${first + index}.1 ${day} 10h Succeed 6000 EUR`;
  });
}

describe('a subscription', () => {
  test('from 31 January bills the last day of each month at its local hour, once each, leap day included', async () => {
    const year = await beforeLeapYear();
    const flow = await subscribe(time, await monthly(time, { anchor: `${year}-01-31`, periods: MONTHS }));
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: MONTHS, unpaidPeriods: 0 });
    const days = lastDays(year, MONTHS);
    expect(days).toContain(`${year + 1}-02-29`);
    const wanted = days.map((day, index) => `${index + 1}.1 ${day} 10h Succeed 6000 EUR`);
    expect(await bills(time, flow.reference)).toEqual(wanted);
  }, 60_000);

  test('over three years, with two declines, a change of card and a pause in one of them, bills exactly what it should, when it should', async () => {
    const firstYear = Number(localDay(await time.now(), ROME).slice(0, 4)) + 1;
    const input = await monthly(time, { anchor: `${firstYear}-01-15` });
    const flow = await subscribe(time, { ...input, periods: (CALM_BEFORE + 1 + CALM_AFTER) * 12 });
    const year = firstYear + CALM_BEFORE;
    const nth = (on: string): string => on.replace(/^\d+/, (month) => `${CALM_BEFORE * 12 + Number(month)}`);
    for (const on of ['3.1', '3.2']) await plantOn(time, flow.reference, nth(on), declinedFor('insufficient_funds'));
    await plantOn(time, flow.reference, nth('5.1'), declinedFor('lost_stolen_card'));

    await time.passUntil(inRome(`${year}-05-17`));
    expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'card' });
    await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
    await flow.worksOn();
    await time.passUntil(inRome(`${year}-07-20`));
    expect(await flow.command('pause')).toMatchObject({ status: 'paused', billedPeriods: CALM_BEFORE * 12 + 7 });
    await time.passUntil(inRome(`${year}-09-18`));
    expect(await flow.command('resume')).toMatchObject({ status: 'active' });

    const billedPeriods = (CALM_BEFORE + CALM_AFTER) * 12 + 10;
    expect(await flow.ended()).toMatchObject({
      status: 'completed',
      billedPeriods,
      missedPeriods: 2,
      unpaidPeriods: 0,
    });
    const troubled = [
      '1.1 01-15 10h Succeed',
      '2.1 02-15 10h Succeed',
      '3.1 03-15 10h Failed',
      '3.2 03-16 10h Failed',
      '3.3 03-18 10h Succeed',
      '4.1 04-15 10h Succeed',
      '5.1 05-15 10h Failed',
      '5.2 05-17 10h Succeed',
      '6.1 06-15 10h Succeed',
      '7.1 07-15 10h Succeed',
      '10.1 10-15 10h Succeed',
      '11.1 11-15 10h Succeed',
      '12.1 12-15 10h Succeed',
    ];
    expect(await bills(time, flow.reference)).toEqual([
      ...calmYears(firstYear, CALM_BEFORE, 1),
      ...troubled.map((line) => `${nth(line).replace(' ', ` ${year}-`)} 6000 EUR`),
      ...calmYears(year + 1, CALM_AFTER, (CALM_BEFORE + 1) * 12 + 1),
    ]);
  }, 60_000);

  test('with a trial bills first after it, and with an end on a day no period that begins then', async () => {
    const input = await monthly(time, { interval: { every: 1, unit: 'week' }, trialDays: 10 });
    const flow = await subscribe(time, { ...input, endsOn: later(input.anchor, 10 + 21) });
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 3 });
    const wanted = [10, 17, 24].map(
      (days, index) => `${index + 1}.1 ${later(input.anchor, days)} 10h Succeed 6000 EUR`,
    );
    expect(await bills(time, flow.reference)).toEqual(wanted);
  });
});
