import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { CreatePaymentCall } from '../../src/contract/activity-calls.js';
import type { Brake, Stoppable } from '../../src/contract/brakes.js';
import { brakeOf, isStopped, NO_BRAKES, withBrake, withoutBrake } from '../../src/domain/brakes.js';
import { type ActivityOperation, callsFor, NOTHING } from './calls.js';
import { type AttemptInfo, Harness, paymentCall, Service, type Surroundings } from './support.js';

const BRAKE: Brake = { businessUnit: 'default', who: 'Ada', why: 'charges twice', since: '2027-01-31T10:00:00.000Z' };
/** What stops each; all others are never stopped. */
const STOPPED: Readonly<Partial<Record<ActivityOperation, Stoppable>>> = {
  createPayment: 'payments',
  createAuthorization: 'payments',
  createCharge: 'payments',
  createCredit: 'payments',
  createCapture: 'captures',
  createRefund: 'refunds',
};

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

let harness: Harness | undefined;
afterEach(async () => {
  await harness?.close();
  harness = undefined;
});

/** The activities under this brake, in a first task that nobody has lost. */
function braked(brake: Partial<Brake> = {}, engine: Surroundings['engine'] = {}): Harness {
  harness = new Harness({
    baseUrl: service.sandbox.url,
    engine: { taskWasLost: async () => false, inFirstTry: async () => true, ...engine },
    brakeOf: (unit) => (unit === (brake.businessUnit ?? 'default') ? { ...BRAKE, ...brake } : undefined),
  });
  return harness;
}

/** Whether one call of it has been sent. */
async function isSent(under: Harness, name: ActivityOperation, call: object = {}): Promise<boolean> {
  await under.run(name, { ...callsFor(NOTHING)[name], ...call } as never).catch(() => undefined);
  return under.requests.length > 0;
}

test.each(Object.keys(callsFor(NOTHING)) as ActivityOperation[])(
  '%s is stopped by what names it alone',
  async (name) => {
    const stopped = STOPPED[name];
    expect(await isSent(braked(), name)).toBe(stopped !== 'payments');
    if (stopped === undefined) expect(await isSent(braked({ captures: true, refunds: true }), name)).toBe(true);
    else expect(await isSent(braked({ [stopped]: true }), name)).toBe(false);
    expect(await isSent(braked({ businessUnit: 'another', captures: true, refunds: true }), name)).toBe(true);
  },
);

test('a capture of a deadline is never stopped, and a void only to make room for a new authorization', async () => {
  expect(await isSent(braked({ captures: true }), 'createCapture', { atDeadline: true })).toBe(true);
  expect(await isSent(braked(), 'createVoid', { toReauthorize: true })).toBe(false);
});

describe('a charge that is stopped', () => {
  const charge = callsFor(NOTHING).createCharge;

  test.each<[string, AttemptInfo, object, boolean]>([
    ['at first is proven not to have left', {}, {}, false],
    ['inside the first task too', { isLocal: true }, {}, false],
    ['may have left before', { attempt: 2 }, {}, true],
    ['may have left from an activity before this one', {}, { mayHaveLeft: true }, true],
  ])('%s', async (_what, info, change, mayHaveLeft) => {
    const under = braked();
    expect(await under.fail('createCharge', { ...charge, ...change }, info)).toMatchObject({
      type: 'ProviderUnavailable',
      retryable: false,
      message: expect.stringContaining(
        'business unit "default" is braked since 2027-01-31T10:00:00.000Z by Ada: charges',
      ),
      details: { braked: true, mayHaveLeft },
    });
    expect(under.requests).toEqual([]);
  });

  test('may have left from a task that was lost', async () => {
    const under = braked({}, { inFirstTry: async () => false });
    const failed = await under.fail('createCharge', charge, { isLocal: true });
    expect(failed.details).toMatchObject({ braked: true, mayHaveLeft: true });
  });

  test('after its window is told of that: nothing is sent after a release either', async () => {
    const failed = await braked().fail('createCharge', { ...charge, postUntil: Date.now() - 1 });
    expect(failed.details).toMatchObject({ windowClosed: true });
  });
});

describe('a payment that is stopped', () => {
  const sent = async (under: Harness, call: CreatePaymentCall, info: AttemptInfo = {}) => {
    await under.run('createPayment', call, info).catch(() => undefined);
    return under.posts().length > 0;
  };

  test('is let through where a lost task, or a run before a reset, may have charged', async () => {
    expect(await sent(braked({}, { taskWasLost: async () => true }), paymentCall())).toBe(true);
    const none = { earlierPayment: async () => undefined };
    expect(await sent(braked({}, none), paymentCall(), { runId: 'made by a reset' })).toBe(true);
    expect(await sent(braked({}, none), paymentCall())).toBe(false);
  });

  test('is stopped by a brake of its unit and of that under which its risk is analysed', async () => {
    for (const businessUnit of ['default', 'risky']) {
      const call = paymentCall({ terms: { risk: true } });
      harness = new Harness({
        baseUrl: service.sandbox.url,
        engine: { taskWasLost: async () => false },
        riskUnit: 'risky',
        brakeOf: (unit) => (unit === businessUnit ? { ...BRAKE, businessUnit } : undefined),
      });
      expect(await sent(harness, call)).toBe(false);
      await harness.close();
      harness = undefined;
    }
  });
});

test('changes are kept, the latest 50, and a second brake keeps since when', () => {
  let brakes = NO_BRAKES;
  const asked = { businessUnit: 'default', who: 'Ada', why: 'a' };
  for (let at = 0; at < 60; at += 1) brakes = withBrake(brakes, { ...asked, why: String(at) }, `at ${at}`);
  expect(brakes.changes).toHaveLength(50);
  expect(brakes.changes.at(-1)).toMatchObject({ did: 'brake', why: '59', at: 'at 59' });
  expect(brakes.braked).toEqual([{ ...asked, why: '59', since: 'at 0' }]);
  const released = withoutBrake(brakes, asked, 'at last');
  expect(brakeOf(released, 'default')).toBeUndefined();
  expect(withBrake(released, asked, 'again').braked).toMatchObject([{ since: 'again' }]);
  expect(isStopped({ ...BRAKE, captures: false }, 'captures')).toBe(false);
});
