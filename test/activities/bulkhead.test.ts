import { beforeEach, describe, expect, test, vi } from 'vitest';
import { CallHeldBack } from '../../activities/to-application-failure.js';
import { CALL_PRIORITIES } from '../../src/contract/activities.js';
import { FAILURE_TYPES } from '../../src/contract/names.js';
import { ProviderError } from '../../src/provider/index.js';
import { failed, type How, PLACES, POSTS, SECOND, Service } from './guarded-service.js';

let service: Service;
beforeEach(() => {
  service = new Service();
});

describe('a unit whose calls hold half of the places', () => {
  test('leaves its next first try to the regular activity, and has sent nothing of it', async () => {
    expect(await service.calls(4, 'local')).toEqual(Array.from({ length: 4 }, () => 'under way'));
    const refused = (await service.call('local')) as ProviderError;
    expect(service.sent).toBe(4);
    expect(refused).toBeInstanceOf(CallHeldBack);
    expect(refused).toMatchObject({ mayHaveLeft: false, failureType: FAILURE_TYPES.providerUnavailable });
    expect(refused.message).toBe(
      'createCharge: not sent yet for business unit "slow": its calls hold half of the places of this worker',
    );
    // At once, by the regular activity.
    expect(refused.retryAfterMs).toBeUndefined();
    expect(service.reported).toEqual(['slow held back: half of the places']);
    await service.endAll(5);
    expect(await service.call('local')).toBe('under way');
  });

  test('has its next POST come back later, and later at each attempt, but its reads have places of their own', async () => {
    await service.calls(POSTS, 'regular');
    for (const [attempt, meanMs] of [
      [1, 1_000],
      [2, 2_000],
      [4, 8_000],
      [9, 10_000],
    ] as const) {
      const refused = (await service.call('regular', { attempt })) as ProviderError;
      expect(refused).toMatchObject({ mayHaveLeft: false, failureType: FAILURE_TYPES.providerUnavailable });
      expect(refused.retryAfterMs).toBeGreaterThanOrEqual(meanMs / 2);
      expect(refused.retryAfterMs).toBeLessThanOrEqual(meanMs * 1.5);
    }
    const read = { name: 'getPayment' } as const;
    expect(await service.calls(2, 'regular', read)).toEqual(['under way', 'under way']);
    expect(await service.call('regular', read)).toMatchObject({ mayHaveLeft: false });
    expect(service.sent).toBe(10);
  });

  test('takes none of the places of POSTs by its reads', async () => {
    await service.calls(5, 'regular', { name: 'listCharges' });
    expect(await service.calls(POSTS, 'regular')).toEqual(Array.from({ length: POSTS }, () => 'under way'));
  });

  const urgent = { priority: CALL_PRIORITIES.deadline };
  test.each<How>([
    { name: 'createVoid' },
    { name: 'createCapture' },
    { name: 'getPayment', within: 'createCapture' },
    { name: 'getPayment', ...urgent },
    { name: 'createCharge', ...urgent },
  ])('sends %j also in the places of calls that wait for their turn, and holds half of all then', async (how) => {
    await service.calls(POSTS, 'regular');
    await service.calls(PLACES.reads, 'regular', { name: 'listCharges' });
    for (let free = PLACES.waiting; free > 0; free -= 1) expect(await service.call('regular', how)).toBe('under way');
    const refused = (await service.call('regular', how)) as ProviderError;
    expect(refused).toBeInstanceOf(CallHeldBack);
    expect(refused.retryAfterMs).toBeGreaterThan(0);
    expect(service.sent).toBe(POSTS + PLACES.reads + PLACES.waiting);
    // In a task it would hold the place of others.
    await service.calls(PLACES.local, 'local');
    expect(await service.call('local', how)).toMatchObject({ mayHaveLeft: false });
  });

  test('takes no place of its reads by captures, and none of others by both', async () => {
    const captures = await service.calls(20, 'regular', { name: 'createCapture', ...urgent });
    expect(captures.filter((one) => one === 'under way')).toHaveLength(POSTS + PLACES.waiting);
    const reads = await service.calls(20, 'regular', { name: 'getPayment', ...urgent });
    expect(reads.filter((one) => one === 'under way')).toHaveLength(PLACES.reads);
  });

  test('lets a repost wait, whose flow gives it again', async () => {
    await service.calls(POSTS, 'regular');
    expect(await service.call('regular', { once: true })).toBeInstanceOf(CallHeldBack);
  });

  test('takes no place of the regular calls by its first tries', async () => {
    await service.calls(20, 'local');
    expect(await service.calls(POSTS, 'regular')).toEqual(Array.from({ length: POSTS }, () => 'under way'));
  });
});

describe('a unit whose service is slow or failing', () => {
  const isHeldBack = async () => {
    const first = await service.call('local');
    return first !== 'under way' && first.message.endsWith('its last calls failed or took more than 3 s');
  };

  test.each([
    ['answers after 4 s', 4 * SECOND, undefined],
    ['does not answer', 10, failed('lost')],
    ['is away', 10, failed('refused')],
    ['answers 503', 10, failed('http', 503)],
    ['answers 429', 10, failed('http', 429)],
    ['answers garbage', 10, failed('unexpected')],
  ])('that %s holds no tasks after ten calls, and its regular calls go on', async (_how, afterMs, error) => {
    await service.rounds(9, afterMs, error);
    expect(service.reported).toEqual([]);
    await service.rounds(1, afterMs, error);
    expect(service.reported).toEqual(['slow open']);
    // The first is the probe.
    await service.call('local');
    expect(await isHeldBack()).toBe(true);
    expect(await service.call('regular')).toBe('under way');
  });

  test.each([
    ['refuses', failed('http', 400)],
    ['finds nothing', failed('http', 404)],
    ['is asked what can not be sent', failed('request')],
    ['is given up as the worker stops', failed('lost', undefined, 'ABORTED')],
  ])('a service that %s is none', async (_how, error) => {
    await service.rounds(20, 10, error);
    expect(service.reported).toEqual([]);
  });

  test('is known by calls that are still under way', async () => {
    await service.calls(8, 'regular');
    await service.calls(2, 'local');
    service.now += 4 * SECOND;
    await service.call('local');
    expect(await isHeldBack()).toBe(true);
  });

  test('is tried by one first try in 5 s, and is well again when that is answered in time', async () => {
    await service.rounds(20, 10, failed('lost'));
    expect(await service.call('local')).toBe('under way');
    await service.endAll(10, failed('lost'));
    expect(await isHeldBack()).toBe(true);
    service.now += 5 * SECOND;
    expect(await service.call('local')).toBe('under way');
    expect(await isHeldBack()).toBe(true);
    await service.endAll(10);
    expect(service.reported.at(-1)).toBe('slow closed');
    expect(await service.calls(3, 'local')).toEqual(['under way', 'under way', 'under way']);
  });

  test('is well again when most of its last calls were answered in time', async () => {
    await service.rounds(20, 10, failed('lost'));
    await service.rounds(10, 10);
    await service.rounds(1, 10);
    expect(service.reported).toEqual(['slow open', 'slow closed']);
  });

  test('is not well again because its calls, which still fail, have become few', async () => {
    await service.rounds(20, 10, failed('lost'));
    for (let minutes = 5; minutes > 0; minutes -= 1) {
      service.now += 50 * SECOND;
      await service.rounds(1, 10, failed('lost'));
    }
    expect(service.reported).toEqual(['slow open']);
    await service.call('local');
    expect(await isHeldBack()).toBe(true);
  });

  test('is told a minute after the last call, and is not called well then', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      await service.rounds(20, 10, failed('lost'));
      service.now += 61 * SECOND;
      await vi.advanceTimersByTimeAsync(61 * SECOND);
      expect(service.reported).toEqual(['slow open', 'slow unseen']);
    } finally {
      vi.useRealTimers();
    }
  });

  test('is told to be over also where the timer that tells it fires a moment too early', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      await service.rounds(20, 10, failed('lost'));
      service.now += 61 * SECOND - 1;
      await vi.advanceTimersByTimeAsync(61 * SECOND);
      expect(service.reported).toEqual(['slow open', 'slow unseen']);
    } finally {
      vi.useRealTimers();
    }
  });

  test('is not held against it after a minute', async () => {
    await service.rounds(20, 10, failed('lost'));
    service.now += 61 * SECOND;
    expect(await service.calls(4, 'local')).toEqual(Array.from({ length: 4 }, () => 'under way'));
  });
});

describe('a unit whose service asks for fewer calls', () => {
  const busy =
    (retryAfterMs: number, httpStatus = 429) =>
    () =>
      new ProviderError('busy', {
        kind: 'http',
        operation: 'createCharge',
        mayHaveLeft: true,
        httpStatus,
        retryAfterMs,
      });

  test('sends no other POST before its Retry-After is over, and those come back one by one', async () => {
    await service.rounds(1, 10, busy(8 * SECOND));
    for (let left = 5; left > 0; left -= 1) {
      const refused = (await service.call('regular')) as ProviderError;
      expect(refused).toMatchObject({ mayHaveLeft: false, failureType: FAILURE_TYPES.providerUnavailable });
      expect(refused.retryAfterMs).toBeGreaterThanOrEqual(8 * SECOND);
      expect(refused.retryAfterMs).toBeLessThanOrEqual(12 * SECOND);
    }
    // Every local activity has one attempt only.
    expect(await service.call('local', { once: true })).toMatchObject({ mayHaveLeft: false });
    expect(service.reported).toEqual(Array.from({ length: 6 }, () => 'slow held back: Retry-After'));
    service.now += 8 * SECOND;
    expect(await service.call('regular')).toBe('under way');
    expect(await service.call('local')).toBe('under way');
  });

  test.each([429, 500, 503])('holds its POSTs back after a %i', async (status) => {
    await service.rounds(1, 10, busy(8 * SECOND, status));
    expect(await service.call('regular')).toMatchObject({ mayHaveLeft: false });
  });

  test.each([400, 401, 403, 404, 409, 418])('sends them after a %i, which is about one call', async (status) => {
    await service.rounds(1, 10, busy(8 * SECOND, status));
    expect(await service.call('regular')).toBe('under way');
    expect(await service.call('local')).toBe('under way');
    expect(service.reported).toEqual([]);
  });

  test('still sends its reads, and what is urgent, and nothing else', async () => {
    await service.rounds(1, 10, busy(8 * SECOND));
    const urgent = { priority: CALL_PRIORITIES.deadline };
    for (const how of [{ name: 'getPayment' }, { name: 'createVoid', ...urgent }, { name: 'createCapture', ...urgent }])
      expect(await service.call('regular', how as How)).toBe('under way');
    for (const how of [{ name: 'createVoid' }, { name: 'createCapture' }, { once: true }])
      expect(await service.call('regular', how as How)).toMatchObject({ mayHaveLeft: false });
  });

  test.each(['local', 'regular'] as const)('sends its POSTs although its %s reads are answered so', async (where) => {
    await service.call(where, { name: 'listCharges' });
    await service.endAll(10, busy(8 * SECOND));
    expect(await service.call('regular')).toBe('under way');
    expect(await service.call('local')).toBe('under way');
    expect(service.reported).toEqual([]);
  });

  test('is held back for a minute at most, and not less because of a later answer', async () => {
    await service.rounds(1, 10, busy(3_600 * SECOND));
    await service.call('regular', { name: 'createVoid', priority: CALL_PRIORITIES.deadline });
    await service.endAll(10, busy(SECOND));
    service.now += 59 * SECOND;
    expect(await service.call('regular')).toMatchObject({ mayHaveLeft: false });
    service.now += SECOND;
    expect(await service.call('regular')).toBe('under way');
  });
});
