import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inTurn } from '../support/counts.js';
import { bills, declinedFor, inRome, later, monthly, plantOn, subscribe } from '../support/subscriptions.js';
import { HOUR, startVirtualTime, type VirtualTime } from '../support/virtual-time.js';

let time: VirtualTime;
beforeAll(async () => {
  // A task that waits for a worker which is gone would hold the engine's clock for good.
  time = await startVirtualTime({ billing: true, sticky: false });
});
afterAll(async () => {
  await time?.close();
});

describe('after an outage over three periods', () => {
  const others = [
    { policy: 'billAll' as const, billed: ['1', '2', '3'], missed: 0 },
    { policy: 'skip' as const, billed: [], missed: 3 },
  ].filter((_, index) => inTurn(2)(index));
  test.each([{ policy: undefined, billed: ['3'], missed: 2 }, ...others])(
    '$policy bills $billed late, the next on time, and reports the rest',
    async ({ policy, billed, missed }) => {
      const input = await monthly(time, { interval: { every: 1, unit: 'week' }, periods: 4 });
      await time.stopWorker();
      const flow = await subscribe(time, { ...input, ...(policy !== undefined && { missedPeriods: policy }) });
      await time.passUnserved(inRome(later(input.anchor, 16)));
      await time.startWorker();
      expect(await flow.ended()).toMatchObject({ billedPeriods: billed.length + 1, missedPeriods: missed });
      const lateDay = later(input.anchor, 16);
      expect(await bills(time, flow.reference)).toEqual([
        ...billed.map((period) => `${period}.1 ${lateDay} 10h Succeed 6000 EUR`),
        `4.1 ${later(input.anchor, 21)} 10h Succeed 6000 EUR`,
      ]);
    },
  );
});

test('an outage in the midst of dunning gives that bill up, and the next is billed alone', async () => {
  const input = await monthly(time, { interval: { every: 1, unit: 'week' }, periods: 2 });
  await plantOn(time, input.reference, '1.1', declinedFor('insufficient_funds'));
  const flow = await subscribe(time, input);
  const firstTry = inRome(input.anchor);
  await time.passUntil(firstTry + HOUR);
  expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'retry' });
  await time.stopWorker();
  // Its next try is due in the outage, and so is the second period.
  await time.passUnserved(inRome(later(input.anchor, 8)), inRome(later(input.anchor, 1)));
  await time.startWorker();
  expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1, unpaidPeriods: 1 });
  expect(await bills(time, flow.reference)).toEqual([
    `1.1 ${later(input.anchor, 0)} 10h Failed 6000 EUR`,
    `2.1 ${later(input.anchor, 8)} 10h Succeed 6000 EUR`,
  ]);
});
