import { expect, test } from 'vitest';
import type { Config } from '../../src/config/index.js';
import type { ProviderClient } from '../../src/provider/index.js';
import { createPaymentDetails, eventRateLimits } from '../../workers/providers.js';

const OURS = { holdfast_workflow_id: 'payment-order-1' };
const FOREIGN = { details: {}, currency: 'EUR' };

test('a webhook handler reads the payments of a unit with a limit for a tenth of it, and of one without as they come', async () => {
  const units = [{ name: 'limited', callsPerSecond: 5 }, { name: 'free' }];
  const limits = eventRateLimits({
    businessUnits: new Map(units.map((unit) => [unit.name, unit])),
  } as unknown as Config);
  expect([...limits].map(([name, { perSecond }]) => [name, perSecond])).toEqual([['limited', 0.5]]);
  const read: string[] = [];
  const provider = {
    getPayment(paymentId: string) {
      read.push(paymentId);
      return Promise.resolve({ data: { currency: 'EUR', ...(paymentId === 'one' && { additionalDetails: OURS }) } });
    },
  } as unknown as ProviderClient;
  const details = createPaymentDetails(new Map(units.map(({ name }) => [name, provider])), limits);
  const of = (businessUnit: string, paymentId: string) => details({ businessUnit, paymentId }, 1_000);
  expect(await of('limited', 'one')).toEqual({ details: OURS, currency: 'EUR' });
  await expect(of('limited', 'two')).rejects.toThrow(
    'Payment two is not read: callsPerSecond of business unit "limited" allows no more',
  );
  expect(await Promise.all(['three', 'four', 'five'].map((id) => of('free', id)))).toEqual([FOREIGN, FOREIGN, FOREIGN]);
  // Nothing else may ever tell of it.
  expect(await details({ businessUnit: 'limited', paymentId: 'disputed', isDisputed: true }, 1_000)).toEqual(FOREIGN);
  expect(read).toEqual(['one', 'three', 'four', 'five', 'disputed']);
});
