import { getEventListeners } from 'node:events';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { businessUnit, DEFAULT_UNIT } from '../../sandbox/business-units.js';
import { Deliveries } from '../../sandbox/deliveries.js';
import { Schedule, SandboxClock } from '../../sandbox/schedule.js';
import { DEFAULT_SETTINGS } from '../../sandbox/settings.js';
import { MemoryStorage } from '../../sandbox/storage.js';
import { Store } from '../../sandbox/store.js';
import type { AppReply } from '../simulation/world/app-call.js';
import { Network } from '../simulation/world/network.js';
import { NetworkDispatcher } from '../simulation/world/network-dispatcher.js';

const HOUR_MS = 3_600_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Sends `count` events to a receiver that answers so. */
async function sent(count: number, answer: () => Promise<AppReply>) {
  const closing = new AbortController().signal;
  const clock = new SandboxClock();
  const store = new Store(new MemoryStorage());
  const schedule = new Schedule(clock, (error) => {
    throw error;
  });
  const dispatcher = new NetworkDispatcher(new Network(undefined, answer), 'sandbox');
  const log = pino({ level: 'silent' });
  const deliveries = new Deliveries({ store, clock, schedule, settings: DEFAULT_SETTINGS, log, closing, dispatcher });
  const unit = businessUnit(DEFAULT_UNIT, undefined, clock.now());
  store.transaction(() => {
    store.units.put(unit);
    for (let number = 0; number < count; number += 1)
      deliveries.enqueue(
        {
          ...{ id: `delivery-${number}`, endpointId: 'endpoint', url: 'http://receiver.test/hooks', version: '1.3.0' },
          ...{ appId: unit.appId, env: 'test', eventType: 'payment.charge.create', eventId: `event-${number}` },
          ...{ paymentId: `payment-${number}`, requestId: 'request', created: clock.now(), status: 'pending' },
          ...{ attempts: 0, repeats: 0, nextAt: clock.now() },
        },
        '{}',
      );
  });
  return { closing, schedule, deliveries: () => [...store.deliveries.values()] };
}

/** What Node remembers at a signal of the signals that depend on it, and of its listeners. */
function remembered(signal: AbortSignal): number {
  const dependants = Object.getOwnPropertySymbols(signal).find(
    ({ description }) => description === 'kDependantSignals',
  );
  const held = dependants && (signal as unknown as Record<symbol, Set<unknown>>)[dependants];
  return getEventListeners(signal, 'abort').length + (held?.size ?? 0);
}

test('an attempt leaves nothing behind at the signal that lives as long as the process', async () => {
  const { closing, deliveries } = await sent(20, async () => ({ status: 200, headers: {}, body: Buffer.alloc(0) }));
  await vi.advanceTimersByTimeAsync(1_000);
  expect(deliveries().map(({ status }) => status)).toEqual(Array<string>(20).fill('delivered'));
  expect(remembered(closing)).toBe(0);
});

test('a receiver that does not answer is given up after 10 s, and the event is sent again', async () => {
  const { deliveries, closing } = await sent(1, () => new Promise(() => {}));
  await vi.advanceTimersByTimeAsync(9_900);
  expect(deliveries()).toMatchObject([{ attempts: 0 }]);
  await vi.advanceTimersByTimeAsync(200);
  expect(deliveries()).toMatchObject([{ attempts: 1, status: 'pending', lastError: 'Error: no answer within 10 s' }]);
  expect(remembered(closing)).toBe(0);
});

test('an event that nobody takes is sent as often over a jump of the clock as in that time, and then given up', async () => {
  const refuses = async (): Promise<AppReply> => ({ status: 500, headers: {}, body: Buffer.alloc(0) });
  const waiting = await sent(1, refuses);
  await vi.advanceTimersByTimeAsync(25 * HOUR_MS);
  const jumping = await sent(1, refuses);
  jumping.schedule.advanceTo(25 * HOUR_MS);
  await vi.advanceTimersByTimeAsync(5_000);
  const [waited] = waiting.deliveries();
  expect(waited).toMatchObject({ status: 'given_up', attempts: expect.any(Number) });
  expect(waited?.attempts).toBeGreaterThan(30);
  expect(jumping.deliveries()).toMatchObject([{ status: 'given_up', attempts: waited?.attempts }]);
});
