import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { type AttemptInfo, Harness, ORIGINAL_RUN_ID, Service } from './support.js';
import { ProviderClient } from '../../src/provider/index.js';

let service: Service;
let harness: Harness;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());
beforeEach(() => {
  harness = new Harness({ baseUrl: service.sandbox.url });
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
});
afterEach(async () => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  await harness.close();
});

/** What an attempt beats whose worker is lost after 16 s, with its call in flight. */
async function beatsOf(info: AttemptInfo): Promise<unknown[]> {
  const charge = await service.readyCharge();
  vi.spyOn(ProviderClient.prototype, 'createCharge').mockImplementation(() => {
    vi.advanceTimersByTime(16_000);
    return Promise.reject(new Error('the worker is gone'));
  });
  await harness.fail('createCharge', charge.call, info);
  return harness.heartbeats;
}

describe('the beats of an attempt whose call is in flight', () => {
  test('come every 5 s, three in the time after which the engine takes a worker for dead', async () => {
    expect(await beatsOf({})).toHaveLength(3);
  });

  test('prove nothing of the attempt itself: its request may be lost with its worker', async () => {
    expect(new Set((await beatsOf({})).map((beat) => JSON.stringify(beat)))).toEqual(new Set(['{"refusedThrough":0}']));
  });

  test('repeat what is proven of all earlier attempts', async () => {
    const beats = await beatsOf({ attempt: 3, heartbeatDetails: { refusedThrough: 2 } });
    expect(beats.at(-1)).toEqual({ refusedThrough: 2 });
  });

  test.each([
    ['nothing is proven of the one before', { attempt: 2 }],
    ['one of them may have left', { attempt: 4, heartbeatDetails: { refusedThrough: 2 } }],
  ])('vouch for no earlier attempt where %s: a later refusal would be believed', async (_name, info) => {
    expect(new Set((await beatsOf(info)).map((beat) => JSON.stringify(beat)))).toEqual(
      new Set(['{"refusedThrough":-1}']),
    );
  });

  test('are none in a local try, which has no engine to beat to', async () => {
    expect(await beatsOf({ isLocal: true })).toEqual([]);
  });
});

test('the beats of a read before a POST repeat how often that read was refused: its worker may be lost', async () => {
  const charge = await service.readyCharge({ originalRunId: ORIGINAL_RUN_ID });
  vi.spyOn(ProviderClient.prototype, 'listCharges').mockImplementation(() => {
    vi.advanceTimersByTime(16_000);
    return Promise.reject(new Error('the worker is gone'));
  });
  const refusedReads = { times: 2, firstAt: 1_000, lastAt: 2_000, bySetting: false };
  const heartbeatDetails = { refusedThrough: -1, refusedReads };
  await harness.fail('createCharge', charge.call, { attempt: 3, heartbeatDetails });
  const beats = harness.heartbeats.slice(0, -1);
  expect(beats.length).toBeGreaterThan(5);
  expect(new Set(beats.map((beat) => JSON.stringify(beat)))).toEqual(new Set([JSON.stringify(heartbeatDetails)]));
});
