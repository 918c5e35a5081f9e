import { randomBytes, randomInt, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { CARDS } from '../../support/charges.js';
import { closeWorld, closeWorlds, openWorld } from './opened.js';
import { faultyNetwork } from './strategies.js';
import type { WorldOptions } from './world.js';

const HOUR = 3_600_000;

closeWorlds();

describe('the virtual time', () => {
  test('days pass while nobody works, for Date, timers, performance and the timers that modules imported by name', async () => {
    const { time } = await openWorld({ startAt: Date.UTC(2026, 0, 1) });
    time.run();
    const began = performance.now();
    await sleep(86_400_000);
    await new Promise((resolve) => setTimeout(resolve, 86_400_000));
    expect(new Date().toISOString()).toBe('2026-01-03T00:00:00.000Z');
    expect(performance.now() - began).toBe(2 * 86_400_000);
  });

  test('a limit of AbortSignal.timeout passes with it, and an aborted sleep rejects as the one of Node', async () => {
    const { time } = await openWorld();
    const signal = AbortSignal.timeout(10_000);
    await time.advanceTo(time.now() + 9_999);
    expect(signal.aborted).toBe(false);
    await time.advanceTo(time.now() + 1);
    expect(signal).toMatchObject({ aborted: true, reason: { name: 'TimeoutError' } });
    await expect(sleep(1, undefined, { signal })).rejects.toMatchObject({ name: 'AbortError', code: 'ABORT_ERR' });
  });

  test('stands still while work is under way and once what was awaited is there', async () => {
    const { time } = await openWorld();
    const began = time.now();
    const hour = sleep(HOUR, 'an hour');
    const slow = (async () => {
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      return time.now() - began;
    })();
    await time.drain();
    expect(await slow).toBe(0);
    expect(await time.runUntil(hour)).toBe('an hour');
    expect(time.now() - began).toBe(HOUR);
    expect(time.nextTimerAt()).toBeUndefined();
  });

  test('a wait without end fails with what was waited for, after how many timers, and what the last of them was', async () => {
    const { time } = await openWorld({ mostFirings: 50 });
    const beats: number[] = [];
    const beat = setInterval(() => beats.push(1), 1_000);
    await expect(time.runUntil(() => false, 'the charge of order-1')).rejects.toThrow(
      /^50 timers have fired, up to .*, and still waited for: the charge of order-1; the last timer: \(\) => beats\.push\(1\)$/,
    );
    clearInterval(beat);
  });

  test('the process has its own time, randomness and network back once the world is closed', async () => {
    const own = () => [
      Date,
      setTimeout,
      sleep,
      randomUUID,
      Reflect.get(AbortSignal, 'timeout'),
      Reflect.get(Math, 'random'),
    ];
    const before = own();
    const { time } = await openWorld({ startAt: 0 });
    for (const [index, one] of own().entries()) expect(one).not.toBe(before[index]);
    const forever = time.runUntil(() => false, 'the end of days');
    const failed = expect(forever).rejects.toThrow('ended while the end of days was waited for');
    await closeWorld();
    await failed;
    for (const [index, one] of own().entries()) expect(one).toBe(before[index]);
    expect(Date.now()).toBeGreaterThan(Date.UTC(2026, 0, 1));
  });
});

describe('the seed', () => {
  const draw = () => [
    randomUUID(),
    randomBytes(9).toString('hex'),
    randomInt(1_000),
    crypto.randomUUID(),
    Math.random(),
  ];

  test('decides all randomness of the process', async () => {
    const drawn: unknown[][] = [];
    for (const seed of [7, 7, 8]) {
      await openWorld({ seed });
      drawn.push(draw());
      await closeWorld();
    }
    expect(drawn[1]).toEqual(drawn[0]);
    expect(drawn[2]).not.toEqual(drawn[0]);
    expect(drawn[0]?.[0]).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  test('decides everything that passes the network: the same one gives the same requests to the letter', async () => {
    const run = async (seed: number): Promise<string> => {
      const strategy: WorldOptions['strategy'] = (random) =>
        faultyNetwork({
          random,
          odds: { dropReply: 0.2, loseRequest: 0.2, duplicate: 0.2, refuseConnection: 0.1 },
          longestDelayMs: 5_000,
        });
      const opened = await openWorld({ seed, strategy, webhooks: true });
      const { network, control } = opened;
      opened.time.run();
      const client = opened.providers(opened.connect('worker')).get('default');
      if (client === undefined) throw new Error('the plain unit is missing');
      const { token } = await control.tokenize(CARDS.pendsThenSucceeds);
      for (let turn = 0; turn < 10; turn += 1) {
        const made = await client
          .createPayment({ amount: 1095, currency: 'USD' }, { idempotencyKey: randomUUID() })
          .catch(() => undefined);
        if (made === undefined) continue;
        const paymentMethod = { type: 'tokenized', token } as const;
        await client
          .createCharge(made.data.id, { paymentMethod }, { idempotencyKey: randomUUID() })
          .catch(() => undefined);
      }
      await sleep(HOUR);
      const log = JSON.stringify(network.passed);
      await closeWorld();
      return log;
    };
    const first = await run(3);
    expect(first.length).toBeGreaterThan(5_000);
    expect(await run(3)).toBe(first);
    expect(await run(4)).not.toBe(first);
  });
});
