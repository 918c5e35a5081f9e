import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { FailureType } from '../../src/contract/names.js';
import { undecodable } from '../../src/contract/payload-marks.js';
import { fakeService, json, PAYMENT_BODY, unusedPort } from '../provider/support/fake-service.js';
import { callsFor, NOTHING } from './calls.js';
import { type AttemptInfo, Harness, HOUR, Service } from './support.js';

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
  await harness.close();
  await service.sandbox.control.clearFaults();
});

const REFUSALS: readonly [number, FailureType][] = [
  [400, 'InvalidInput'],
  [404, 'NotFound'],
  [409, 'StateConflict'],
];

/** The answer to a refusal with `status` on an attempt that came about like this. */
async function refusedWith(status: number, info: AttemptInfo, mayHaveLeft = false, asked = harness) {
  const charge = await service.readyCharge({ mayHaveLeft });
  await service.plant(charge, { action: 'status', status });
  return await asked.fail('createCharge', charge.call, info);
}

describe.each(REFUSALS)('a refusal with %i (%s)', (status, type) => {
  const BELIEVED = { type, retryable: false };
  const NOT_BELIEVED = {
    type: 'OutcomeUnknown',
    retryable: false,
    details: { disbelieved: type, httpStatus: status, mayHaveLeft: true },
  };

  test('is believed on the first attempt', async () => {
    expect(await refusedWith(status, { attempt: 1 })).toMatchObject(BELIEVED);
  });

  test('is not believed when the workflow says that an earlier attempt may have left', async () => {
    expect(await refusedWith(status, { attempt: 1 }, true)).toMatchObject(NOT_BELIEVED);
  });

  test.each<[string, AttemptInfo]>([
    ['a second attempt of which nothing is proven', { attempt: 2 }],
    ['a third attempt whose first one alone was refused', { attempt: 3, heartbeatDetails: { refusedThrough: 1 } }],
    [
      'what an operator who reset the activity has made its first attempt again',
      { attempt: 1, scheduledTimestampMs: 1_000, currentAttemptScheduledTimestampMs: 61_000 },
    ],
    [
      'one that an operator has reset, with what its last beat said',
      {
        attempt: 1,
        scheduledTimestampMs: 1_000,
        currentAttemptScheduledTimestampMs: 61_000,
        heartbeatDetails: { refusedThrough: 0 },
      },
    ],
    ['an attempt with a proof of the future', { attempt: 2, heartbeatDetails: { refusedThrough: 2 } }],
    ['an attempt with a proof that is none', { attempt: 2, heartbeatDetails: 'refusedThrough' }],
    ['an attempt with an empty proof', { attempt: 2, heartbeatDetails: null }],
    ['an attempt with a proof of text', { attempt: 2, heartbeatDetails: { refusedThrough: '1' } }],
  ])('is not believed on %s', async (_name, info) => {
    expect(await refusedWith(status, info)).toMatchObject(NOT_BELIEVED);
  });

  test('is believed when every earlier attempt is proven never to have left', async () => {
    expect(await refusedWith(status, { attempt: 2, heartbeatDetails: { refusedThrough: 1 } })).toMatchObject(BELIEVED);
    expect(await refusedWith(status, { attempt: 9, heartbeatDetails: { refusedThrough: 8 } })).toMatchObject(BELIEVED);
  });

  test('is not believed because of a proof that an attempt without the key has left as it was', async () => {
    const reset = { attempt: 1, scheduledTimestampMs: 1_000, currentAttemptScheduledTimestampMs: 61_000 };
    const unread = undecodable('unknown key id') as never;
    const kept = { refusedThrough: 1 };
    await harness.fail('createCharge', unread, { ...reset, heartbeatDetails: kept });
    // The engine keeps the last one.
    const heartbeatDetails = harness.heartbeats.at(-1) ?? kept;
    expect(await refusedWith(status, { ...reset, attempt: 2, heartbeatDetails })).toMatchObject(NOT_BELIEVED);
  });

  test('is not believed despite such a proof when the workflow knows of an even earlier attempt', async () => {
    const info = { attempt: 2, heartbeatDetails: { refusedThrough: 1 } };
    expect(await refusedWith(status, info, true)).toMatchObject(NOT_BELIEVED);
  });

  test.each([
    ['believed', 'is in its first try', () => Promise.resolve(true)],
    ['not believed', 'may have run before', () => Promise.resolve(false)],
    ['not believed', 'can not be asked about', () => Promise.reject(new Error('the engine is away'))],
  ])('of a local activity is %s when its workflow task %s', async (verdict, _task, inFirstTry) => {
    const asked: string[] = [];
    const local = new Harness({
      baseUrl: service.sandbox.url,
      engine: {
        inFirstTry: async (workflowId) => {
          asked.push(workflowId);
          return await inFirstTry();
        },
      },
    });
    const failed = await refusedWith(status, { isLocal: true, workflowId: 'payment-x' }, false, local);
    expect(failed).toMatchObject(verdict === 'believed' ? BELIEVED : NOT_BELIEVED);
    expect(asked).toEqual(['payment-x']);
    expect(local.heartbeats).toEqual([]);
    await local.close();
  });
});

describe('the proof that no attempt has left', () => {
  test('grows attempt by attempt while nothing can be reached, and ends with a refusal that is believed', async () => {
    const away = new Harness({ baseUrl: `http://127.0.0.1:${await unusedPort()}` });
    const charge = await service.readyCharge();
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const failed = await away.fail('createCharge', charge.call, {
        attempt,
        heartbeatDetails: away.heartbeats.at(-1),
      });
      expect(failed).toMatchObject({ type: 'ProviderUnavailable', retryable: true, details: { mayHaveLeft: false } });
    }
    expect(away.heartbeats).toEqual([{ refusedThrough: 1 }, { refusedThrough: 2 }, { refusedThrough: 3 }]);
    await service.plant(charge, { action: 'status', status: 409 });
    const info = { attempt: 4, heartbeatDetails: away.heartbeats.at(-1) };
    expect(await harness.fail('createCharge', charge.call, info)).toMatchObject({ type: 'StateConflict' });
    await away.close();
  });

  test('is not taken up again once one attempt may have left', async () => {
    const away = new Harness({ baseUrl: `http://127.0.0.1:${await unusedPort()}` });
    const charge = await service.readyCharge();
    const info = { attempt: 3, heartbeatDetails: { refusedThrough: 1 } };
    const failed = await away.fail('createCharge', charge.call, info);
    expect(failed.details.mayHaveLeft).toBe(true);
    expect(away.heartbeats).toEqual([{ refusedThrough: -1 }]);
    await away.close();
  });

  test('is never made for a request that left', async () => {
    const charge = await service.readyCharge();
    await service.plant(charge, { action: 'refuse' });
    await harness.fail('createCharge', charge.call);
    expect(harness.heartbeats).toEqual([]);
  });
});

describe('a part, at a service that takes the whole whatever is named', () => {
  const { createCapture: part } = callsFor(NOTHING);
  const UNREAD = { type: 'ProviderUnavailable', retryable: true, details: { mayHaveLeft: false } };

  test('is refused as one that never left, however often the payment could not be read before', async () => {
    const answers = [json(503, {}), json(404, { category: 'api_request_error' }), json(200, '<html>')];
    const payment = json(200, { ...PAYMENT_BODY, id: part.paymentId, currency: part.currency });
    const stub = await fakeService((response, request) => (answers.shift() ?? payment)(response, request));
    const own = new Harness({ baseUrl: stub.url, terms: { ignoresAmounts: true } });
    const next = (attempt: number) =>
      own.fail('createCapture', part, { attempt, heartbeatDetails: own.heartbeats.at(-1) });
    for (const attempt of [1, 2, 3]) {
      expect(await next(attempt)).toMatchObject(UNREAD);
      expect(own.heartbeats.at(-1)).toEqual({ refusedThrough: attempt });
    }
    expect(await next(4)).toMatchObject({ type: 'InvalidInput', retryable: false, details: { mayHaveLeft: false } });
    expect(own.posts()).toEqual([]);
    answers.push(json(401, {}), json(429, {}));
    expect(await next(5)).toMatchObject({ type: 'CredentialsRejected', details: { mayHaveLeft: false } });
    expect(await next(6)).toMatchObject({ type: 'RateLimited', retryable: true, details: { mayHaveLeft: false } });
    await own.close();
    await stub.close();
  });
});

describe('a charge whose reply was lost after it moved the money', () => {
  test('is not taken for refused when the service now says 409', async () => {
    const charge = await service.readyCharge();
    await service.plant(charge, { action: 'drop_reply' });
    const lost = await harness.fail('createCharge', charge.call);
    expect(lost).toMatchObject({ type: 'ProviderUnavailable', details: { mayHaveLeft: true } });
    await service.plant(charge, { action: 'status', status: 409 });
    const failed = await harness.fail('createCharge', charge.call, { attempt: 2 });
    expect(failed).toMatchObject({ type: 'OutcomeUnknown', details: { disbelieved: 'StateConflict' } });
    expect(await service.ledger(charge)).toHaveLength(1);
  });

  test('parks on rejected credentials, still knowing that it may have left', async () => {
    const charge = await service.readyCharge();
    await service.plant(charge, { action: 'drop_reply' });
    await harness.fail('createCharge', charge.call);
    await service.plant(charge, { action: 'status', status: 401 });
    const failed = await harness.fail('createCharge', charge.call, { attempt: 2 });
    expect(failed).toMatchObject({ type: 'CredentialsRejected', retryable: false, details: { mayHaveLeft: true } });
  });
});

describe('the window for sending', () => {
  test.each([0, 1, 48 * HOUR])('closed %i ms ago: nothing is sent, and that is said', async (ago) => {
    const charge = await service.readyCharge({ postUntil: Date.now() - ago });
    const failed = await harness.fail('createCharge', charge.call);
    expect(failed).toMatchObject({
      type: 'OutcomeUnknown',
      retryable: false,
      details: { windowClosed: true, mayHaveLeft: false },
    });
    expect(failed.message).toContain(charge.call.key);
    expect(harness.requests).toEqual([]);
    expect(await service.ledger(charge)).toEqual([]);
  });

  test('closed, with an attempt that may have left before, is said with that', async () => {
    const past = Date.now() - 1;
    const known = await service.readyCharge({ postUntil: past, mayHaveLeft: true });
    expect((await harness.fail('createCharge', known.call)).details.mayHaveLeft).toBe(true);
    const retried = await service.readyCharge({ postUntil: past });
    expect((await harness.fail('createCharge', retried.call, { attempt: 2 })).details.mayHaveLeft).toBe(true);
    expect(harness.requests).toEqual([]);
  });

  test('is closed at its very end, where the next one may begin under another key', async () => {
    const charge = await service.readyCharge();
    const atTheEnd = new Harness({ baseUrl: service.sandbox.url, now: () => charge.call.postUntil });
    expect((await atTheEnd.fail('createCharge', charge.call)).details).toEqual({
      windowClosed: true,
      mayHaveLeft: false,
    });
    expect(atTheEnd.requests).toEqual([]);
    expect(await service.ledger(charge)).toEqual([]);
    await atTheEnd.close();
  });

  test('is open until its last millisecond', async () => {
    const charge = await service.readyCharge();
    const last = new Harness({ baseUrl: service.sandbox.url, now: () => charge.call.postUntil - 1 });
    expect(await last.run('createCharge', charge.call)).toMatchObject({ status: 'Succeed' });
    await last.close();
  });
});

describe('a business unit that this worker does not know', () => {
  const UNKNOWN = { businessUnit: 'shop' };

  test('is the fault of the input while nothing can have been sent', async () => {
    const charge = await service.readyCharge(UNKNOWN);
    const failed = await harness.fail('createCharge', charge.call);
    expect(failed).toMatchObject({ type: 'InvalidInput', retryable: false, details: { mayHaveLeft: false } });
    expect(failed.message).toContain('"shop"');
    expect(failed.message).toContain('default');
    expect(harness.requests).toEqual([]);
  });

  test('is so in a local activity too, when its workflow task is in its first try', async () => {
    const local = new Harness({ baseUrl: service.sandbox.url, engine: { inFirstTry: () => Promise.resolve(true) } });
    const charge = await service.readyCharge(UNKNOWN);
    const failed = await local.fail('createCharge', charge.call, { isLocal: true });
    expect(failed).toMatchObject({ type: 'InvalidInput', details: { mayHaveLeft: false } });
    await local.close();
  });

  test('parks the flow once something may have been sent, since then it is missing from the configuration', async () => {
    const known = await service.readyCharge({ ...UNKNOWN, mayHaveLeft: true });
    const retried = await service.readyCharge(UNKNOWN);
    const parked = { type: 'CredentialsRejected', retryable: false, details: { mayHaveLeft: true } };
    expect(await harness.fail('createCharge', known.call)).toMatchObject(parked);
    expect(await harness.fail('createCharge', retried.call, { attempt: 2 })).toMatchObject(parked);
    const local = new Harness({ baseUrl: service.sandbox.url, engine: { inFirstTry: () => Promise.resolve(false) } });
    expect(await local.fail('createCharge', retried.call, { isLocal: true })).toMatchObject(parked);
    await local.close();
  });
});
