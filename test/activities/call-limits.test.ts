import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { ProviderClient } from '../../src/provider/index.js';
import { Harness, Service } from './support.js';

/** How long the engine lets each kind of activity run: see `workflows/policies.ts`. */
const LOCAL_ACTIVITY_MS = 15_000;
const REGULAR_ACTIVITY_MS = 65_000;
const READ_ACTIVITY_MS = 20_000;
/** So that an answer which comes at the last moment is reported, and not lost with its activity. */
const SPARE_MS = 5_000;

let service: Service;
let harness: Harness;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());
beforeEach(() => {
  harness = new Harness({ baseUrl: service.sandbox.url });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await harness.close();
});

describe('a call of the payment service ends at least 5 s before its activity would', () => {
  test.each([
    ['a local try', true, LOCAL_ACTIVITY_MS],
    ['a regular activity', false, REGULAR_ACTIVITY_MS],
  ])('in %s, so that what may have moved money is known by its answer', async (_name, isLocal, activityMs) => {
    const sent = vi.spyOn(ProviderClient.prototype, 'createCharge');
    const charge = await service.readyCharge();
    await harness.run('createCharge', charge.call, { isLocal });
    const limits = sent.mock.calls.map(([, , options]) => options?.timeoutMs ?? Number.POSITIVE_INFINITY);
    expect(limits).toHaveLength(1);
    expect(Math.max(...limits)).toBeLessThanOrEqual(activityMs - SPARE_MS);
    expect(Math.min(...limits)).toBeGreaterThanOrEqual(10_000);
    expect(await service.ledger(charge)).toHaveLength(1);
  });

  test('in a read', async () => {
    const sent = vi.spyOn(ProviderClient.prototype, 'listCharges');
    const { paymentId } = await service.readyCharge();
    await harness.run('listCharges', { businessUnit: 'default', paymentId, currency: 'USD' });
    const limits = sent.mock.calls.map(([, options]) => options?.timeoutMs ?? Number.POSITIVE_INFINITY);
    expect(limits).toHaveLength(1);
    expect(Math.max(...limits)).toBeLessThanOrEqual(READ_ACTIVITY_MS - SPARE_MS);
  });
});
