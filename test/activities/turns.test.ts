import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { withBulkheads } from '../../activities/bulkhead.js';
import type { ActivityDeps } from '../../activities/read-call.js';
import { RateLimit } from '../../activities/rate-limit.js';
import { sendKeyedPost } from '../../activities/send-call.js';
import { CALL_PRIORITIES } from '../../src/contract/activities.js';
import { type OperationName, type ProviderClient, ProviderError } from '../../src/provider/index.js';

/** The failures that tests provoke would be logged as warnings. */
const QUIET = new DefaultLogger('ERROR');
const SECOND = 1_000;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const inTime = () => ({ scheduledTimestampMs: Date.now(), scheduleToCloseTimeoutMs: 60_000 });

/** A service that answers at once. @param perSecond calls of its unit */
function service(perSecond = 1) {
  const sent: string[] = [];
  const methods = new Proxy(
    {},
    {
      get: (_target, name) => async () => {
        sent.push(String(name));
        return await Promise.resolve({ data: {} });
      },
    },
  ) as ProviderClient;
  const guarded = withBulkheads(new Map([['default', methods]]), {
    places: { local: 4, posts: 2, reads: 2, waiting: 3 },
    longestReturn: 10_000,
    opensFrom: 10,
    now: Date.now,
    limits: new Map([['default', new RateLimit(perSecond, Date.now)]]),
  }).get('default') as unknown as Record<OperationName, () => Promise<unknown>>;
  const begin = (name: OperationName, info: object = {}, send = () => guarded[name]()) => {
    const environment = new MockActivityEnvironment(
      { isLocal: false, attempt: 1, activityType: name, ...inTime(), ...info },
      { logger: QUIET },
    );
    const ended = environment
      .run(async () => await send())
      .then(
        () => 'sent',
        (error: unknown) => error as Error,
      );
    return { ended, cancel: () => environment.cancel('CANCELLED') };
  };
  /** As the activity sends it, with less than an hour left from `urgentFrom` on. */
  const beginCapture = (urgentFrom: number) => {
    const workflowExecution = { workflowId: 'payment-1', runId: 'first' };
    const info = { workflowExecution, priority: { priorityKey: CALL_PRIORITIES.other } };
    const deps = { providers: new Map([['default', guarded]]), now: Date.now } as unknown as ActivityDeps;
    const call = { businessUnit: 'default', key: 'key', mayHaveLeft: false, originalRunId: 'first', urgentFrom };
    const keyed = { ...call, postUntil: Date.now() + 3_600 * SECOND };
    const never = () => Promise.resolve(undefined);
    const send = () => sendKeyedPost<unknown>(deps, keyed, () => guarded.createCapture(), never);
    return begin('createCapture', info, send);
  };
  return { sent, begin, beginCapture };
}

const notSent = (error: string | Error) => {
  expect(error).toBeInstanceOf(ProviderError);
  expect(error).toMatchObject({ mayHaveLeft: false });
};

test('a call that finds no turn waits for one', async () => {
  const { sent, begin } = service();
  begin('createRefund');
  const second = begin('createRefund');
  await vi.advanceTimersByTimeAsync(SECOND / 2);
  expect(sent).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(SECOND);
  expect(await second.ended).toBe('sent');
});

test('calls that wait hold no place: more of them than there are places are sent in turn', async () => {
  const { sent, begin } = service(2);
  const calls = ['createRefund', 'createRefund', 'createRefund', 'createCharge'] as const;
  const all = calls.map((name) => begin(name));
  await vi.advanceTimersByTimeAsync(4 * SECOND);
  expect(await Promise.all(all.map(({ ended }) => ended))).toEqual(['sent', 'sent', 'sent', 'sent']);
  expect(sent).toHaveLength(4);
});

test('a capture goes first once it has less than an hour left, however its activity was scheduled', async () => {
  for (const [urgentFrom, place] of [
    [Date.now() + 30 * SECOND, 3],
    [Date.now(), 1],
  ] as const) {
    const { sent, begin, beginCapture } = service(2);
    for (let calls = 0; calls < 3; calls += 1)
      begin('createCharge', { priority: { priorityKey: CALL_PRIORITIES.buyer } });
    beginCapture(urgentFrom);
    await vi.advanceTimersByTimeAsync(4 * SECOND);
    expect(sent.indexOf('createCapture')).toBe(place);
  }
});

test('a call whose window closes while it waits is not sent', async () => {
  const { sent, begin } = service();
  begin('createRefund');
  const late = begin('createRefund', { scheduledTimestampMs: Date.now() - 60_000, scheduleToCloseTimeoutMs: 60_500 });
  await vi.advanceTimersByTimeAsync(2 * SECOND);
  notSent(await late.ended);
  expect(sent).toHaveLength(1);
});

test('a call that is cancelled while it waits is not sent', async () => {
  const { sent, begin } = service();
  begin('createRefund');
  const cancelled = begin('createRefund');
  cancelled.cancel();
  await vi.advanceTimersByTimeAsync(2 * SECOND);
  notSent(await cancelled.ended);
  expect(sent).toHaveLength(1);
});

test('a first try does not wait: it goes on outside of its task', async () => {
  const { sent, begin } = service();
  begin('createCharge', { isLocal: true });
  const second = begin('createCharge', { isLocal: true });
  await vi.advanceTimersByTimeAsync(0);
  notSent(await second.ended);
  expect(sent).toHaveLength(1);
});

test('a repost, which has but one attempt, waits as the others of its class, and is given again by its flow', async () => {
  const { sent, begin } = service();
  const once = { retryPolicy: { maximumAttempts: 1 } };
  const all = Array.from({ length: 10 }, () => begin('createCharge', once));
  await vi.advanceTimersByTimeAsync(4 * SECOND);
  const ends = await Promise.all(all.map(({ ended }) => ended));
  expect(sent.length).toBeLessThanOrEqual(5);
  const away = ends.filter((end) => end !== 'sent');
  expect(away).toHaveLength(all.length - sent.length);
  for (const end of away) notSent(end);
});

test('of many only so many wait at a time: the others come back later', async () => {
  const { sent, begin } = service(2);
  const all = Array.from({ length: 6 }, () => begin('createRefund'));
  await vi.advanceTimersByTimeAsync(0);
  for (const { ended } of all.slice(4)) notSent(await ended);
  await vi.advanceTimersByTimeAsync(2 * SECOND);
  expect(sent).toHaveLength(4);
});
