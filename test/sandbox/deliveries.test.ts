import { getEventListeners } from 'node:events';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { businessUnit, DEFAULT_UNIT } from '../../sandbox/business-units.js';
import { Deliveries } from '../../sandbox/deliveries.js';
import { Schedule, SandboxClock } from '../../sandbox/schedule.js';
import { DEFAULT_SETTINGS, type Settings } from '../../sandbox/settings.js';
import { MemoryStorage } from '../../sandbox/storage.js';
import { Store } from '../../sandbox/store.js';
import type { AppReply } from '../simulation/world/app-call.js';
import { Network } from '../simulation/world/network.js';
import { NetworkDispatcher } from '../simulation/world/network-dispatcher.js';

const HOUR_MS = 3_600_000;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Sends `count` events to a receiver that answers so, all of one payment or each of another one. */
async function sent(
  count: number,
  answer: () => Promise<AppReply>,
  { ofOne = false, eventOrder = 'kept' }: { ofOne?: boolean; eventOrder?: Settings['eventOrder'] } = {},
) {
  const closing = new AbortController().signal;
  const clock = new SandboxClock();
  const store = new Store(new MemoryStorage());
  const schedule = new Schedule(clock, (error) => {
    throw error;
  });
  const dispatcher = new NetworkDispatcher(new Network(undefined, answer), 'sandbox');
  const log = pino({ level: 'silent' });
  const settings = { ...DEFAULT_SETTINGS, eventOrder };
  const deliveries = new Deliveries({ store, clock, schedule, settings, log, closing, dispatcher });
  const unit = businessUnit(DEFAULT_UNIT, undefined, clock.now());
  const send = (first: number, last: number): void => {
    for (let number = first; number <= last; number += 1)
      deliveries.enqueue(
        {
          ...{ id: `delivery-${number}`, endpointId: 'endpoint', url: 'http://receiver.test/hooks', version: '1.3.0' },
          ...{ appId: unit.appId, env: 'test', eventType: 'payment.charge.create', eventId: `event-${number}` },
          ...{
            paymentId: `payment-${ofOne ? 0 : number}`,
            requestId: 'request',
            created: clock.now(),
            status: 'pending',
          },
          ...{ attempts: 0, repeats: 0, nextAt: clock.now() },
        },
        '{}',
      );
  };
  store.transaction(() => {
    store.units.put(unit);
    send(0, count - 1);
  });
  return {
    closing,
    schedule,
    deliveries: () => [...store.deliveries.values()],
    sendAnother: () => store.transaction(() => send(count, count)),
    resend: (id: string) => deliveries.resend(store.deliveries.get(id)!),
  };
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

const answered = (status: number): AppReply => ({ status, headers: {}, body: Buffer.alloc(0) });

test.each([
  ['kept', 1],
  ['parallel', 3],
] as const)(
  'where the order of events is %s, %i of three of one payment are under way at once',
  async (order, most) => {
    let underWay = 0;
    const answer = async (): Promise<AppReply> => {
      underWay += 1;
      return await new Promise(() => {});
    };
    await sent(3, answer, { ofOne: true, eventOrder: order });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(underWay).toBe(most);
  },
);

test('what was delivered is forgotten after 48 h, what was given up never', async () => {
  let first = true;
  const answer = async (): Promise<AppReply> => {
    const status = first ? 200 : 503;
    first = false;
    return answered(status);
  };
  const { deliveries, sendAnother } = await sent(2, answer);
  await vi.advanceTimersByTimeAsync(49 * HOUR_MS);
  expect(deliveries().map(({ status }) => status)).toEqual(['delivered', 'given_up']);
  sendAnother();
  expect(deliveries().map(({ id, status }) => [id, status])).toEqual([
    ['delivery-1', 'given_up'],
    ['delivery-2', 'pending'],
  ]);
});

test('what a receiver has taken once is not given up because it is refused when it is sent again later', async () => {
  let status = 200;
  const { deliveries, resend } = await sent(1, async () => answered(status));
  await vi.advanceTimersByTimeAsync(25 * HOUR_MS);
  status = 503;
  resend('delivery-0');
  await vi.advanceTimersByTimeAsync(HOUR_MS);
  expect(deliveries()).toMatchObject([{ status: 'pending', lastStatus: 503 }]);
  await vi.advanceTimersByTimeAsync(25 * HOUR_MS);
  expect(deliveries()).toMatchObject([{ status: 'delivered', lastStatus: 503 }]);
});
