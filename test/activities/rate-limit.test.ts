import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { RateLimit } from '../../activities/rate-limit.js';
import type { CallPriority } from '../../src/contract/activities.js';

const SECOND = 1_000;
const TOGETHER = 20;

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

interface Turn {
  at: number;
  priority: CallPriority;
  hasTurn: boolean;
}

/** Calls of one unit; each that is sent away comes back when it is told to. */
class Calls {
  readonly turns: Turn[] = [];
  readonly limit: RateLimit;

  constructor(perSecond: number) {
    this.limit = new RateLimit(perSecond, Date.now);
  }

  ask(priority: CallPriority, many = 1): void {
    for (let left = many; left > 0; left -= 1)
      void this.limit.inTurn(priority).then((hasTurn) => this.turns.push({ at: Date.now(), priority, hasTurn }));
  }

  given(priority?: CallPriority): Turn[] {
    return this.turns.filter((turn) => turn.hasTurn && (priority === undefined || turn.priority === priority));
  }
}

const anyPriority = fc.constantFrom<CallPriority>(2, 3, 4, 5);

describe('the calls of a unit', () => {
  test('are never more per second than allowed, whatever asks and whenever', async () => {
    const asked = fc.array(fc.record({ afterMs: fc.nat(3_000), priority: anyPriority, many: fc.nat(30) }), {
      maxLength: 20,
    });
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 500 }), asked, async (perSecond, rounds) => {
        const calls = new Calls(perSecond);
        for (const { afterMs, priority, many } of rounds) {
          await vi.advanceTimersByTimeAsync(afterMs);
          calls.ask(priority, many);
        }
        await vi.advanceTimersByTimeAsync(6 * SECOND);
        const all = rounds.reduce((sum, { many }) => sum + many, 0);
        expect(calls.turns).toHaveLength(all);
        const times = calls.given().map(({ at }) => at);
        const most = Math.max(1, (perSecond * TOGETHER) / SECOND);
        for (const [first, from] of times.entries()) {
          const within = times.slice(first).filter((at) => at < from + SECOND).length;
          expect(within).toBeLessThanOrEqual(perSecond + most + 1);
        }
      }),
      { numRuns: 50 },
    );
  });

  test('are as many as allowed while enough of them wait', async () => {
    const calls = new Calls(50);
    for (let round = 0; round < 50; round += 1) {
      calls.ask(2, 20);
      await vi.advanceTimersByTimeAsync(SECOND / 5);
    }
    expect(calls.given().length).toBeGreaterThan(490);
  });

  test('go by their class, and now and then one goes of a class that others overtake', async () => {
    const calls = new Calls(10);
    for (const priority of [5, 4, 3, 2] as const) calls.ask(priority, 20);
    await vi.advanceTimersByTimeAsync(2_900);
    // The first one had its turn before the others came.
    expect(calls.given().slice(1, 7)).toEqual(calls.given(2).slice(0, 6));
    expect(calls.given(2)).toHaveLength(20);
    for (const priority of [3, 4, 5] as const) expect(calls.given(priority).length).toBeGreaterThan(0);
    expect(calls.given(3).length).toBeGreaterThan(calls.given(4).length);
  });

  test('go first with less than an hour left, and are sent though no turn is left: the others make up for it', async () => {
    const calls = new Calls(2);
    calls.ask(3, 20);
    calls.ask(1, 30);
    await vi.advanceTimersByTimeAsync(0);
    // Six fit into three seconds, and what does not fit is sent.
    expect(calls.given(1)).toHaveLength(24);
    await vi.advanceTimersByTimeAsync(4 * SECOND);
    expect(calls.given(1)).toHaveLength(30);
    expect(calls.turns.filter(({ hasTurn, priority }) => !hasTurn && priority === 1)).toEqual([]);
    expect(calls.given(3).length).toBeLessThanOrEqual(5);
    await vi.advanceTimersByTimeAsync(6 * SECOND);
    const later = calls.given().length;
    calls.ask(3, 1);
    await vi.advanceTimersByTimeAsync(SECOND);
    expect(calls.given()).toHaveLength(later + 1);
  });

  test('that were sent without a turn take those of the next second', async () => {
    const calls = new Calls(10);
    calls.ask(1, 60);
    await vi.advanceTimersByTimeAsync(900);
    // One had a turn, 30 wait, and the others were sent.
    expect(calls.given(1)).toHaveLength(30);
    await vi.advanceTimersByTimeAsync(600);
    expect(calls.given(1).length).toBeGreaterThan(31);
  });

  test('that go ahead without end leave the others a turn now and then', async () => {
    const calls = new Calls(1);
    for (let round = 0; round < 20; round += 1) {
      for (const priority of [2, 3, 4] as const) calls.ask(priority);
      calls.ask(1, 10);
      await vi.advanceTimersByTimeAsync(SECOND);
    }
    await vi.advanceTimersByTimeAsync(4 * SECOND);
    expect(calls.given(1)).toHaveLength(200);
    for (const priority of [2, 3, 4] as const) expect(calls.given(priority).length).toBeGreaterThan(2);
  });

  test('that go beside those that go ahead take a turn as well, which is missing later', async () => {
    const calls = new Calls(10);
    // One of them goes at once.
    calls.ask(3, 20);
    // 30 of them wait, and eight go ahead: with the last one goes another of the class that waits.
    calls.ask(1, 38);
    await vi.advanceTimersByTimeAsync(0);
    expect([calls.given(3).length, calls.given(1).length]).toEqual([2, 8]);
    // Nine turns are missing, and the tenth is a call's.
    await vi.advanceTimersByTimeAsync(990);
    expect(calls.given()).toHaveLength(10);
    await vi.advanceTimersByTimeAsync(20);
    expect(calls.given()).toHaveLength(11);
  });

  test('wait only where their worker has room', async () => {
    const calls = new Calls(1);
    expect(await calls.limit.inTurn(2, false)).toBe(true);
    expect(await calls.limit.inTurn(2, false)).toBe(false);
    expect(await calls.limit.inTurn(1, false)).toBe(true);
  });

  test('where their worker has no room take that of a later class, but never of its last one', async () => {
    const { limit } = new Calls(1);
    limit.atOnce();
    const ended: string[] = [];
    const ask = (name: string, priority: CallPriority, mayWait = true) =>
      void limit.inTurn(priority, mayWait).then((hasTurn) => ended.push(`${name} ${hasTurn ? 'sent' : 'away'}`));
    for (const name of ['poll 1', 'poll 2']) ask(name, 5);
    for (const name of ['other 1', 'other 2']) ask(name, 4);
    ask('buyer 1', 2, false);
    await vi.advanceTimersByTimeAsync(0);
    expect(ended).toEqual(['poll 2 away']);
    ask('buyer 2', 2, false);
    await vi.advanceTimersByTimeAsync(0);
    expect(ended.slice(1)).toEqual(['other 2 away']);
    for (const [name, priority] of [
      ['buyer 3', 2],
      ['poll 3', 5],
    ] as const)
      ask(name, priority, false);
    await vi.advanceTimersByTimeAsync(0);
    expect(ended.slice(2)).toEqual(['buyer 3 away', 'poll 3 away']);
    await vi.advanceTimersByTimeAsync(2_900);
    expect(ended.slice(4, 6)).toEqual(['buyer 1 sent', 'buyer 2 sent']);
  });

  test('that must not wait get a turn only where nobody else waits', async () => {
    const calls = new Calls(1);
    expect([calls.limit.atOnce(), calls.limit.atOnce()]).toEqual([true, false]);
    calls.ask(5);
    await vi.advanceTimersByTimeAsync(990);
    expect(calls.limit.atOnce()).toBe(false);
    await vi.advanceTimersByTimeAsync(SECOND);
    expect(calls.given(5)).toHaveLength(1);
  });

  test('are sent away after three seconds, or at once where others would not leave them a turn in time', async () => {
    const calls = new Calls(5);
    calls.ask(2, 30);
    await vi.advanceTimersByTimeAsync(0);
    const away = () => calls.turns.filter(({ hasTurn }) => !hasTurn).length;
    expect(away()).toBe(14);
    calls.ask(3, 5);
    await vi.advanceTimersByTimeAsync(2_990);
    expect(away()).toBe(14);
    await vi.advanceTimersByTimeAsync(SECOND);
    expect(calls.turns).toHaveLength(35);
    expect(calls.given(3).length).toBeGreaterThan(0);
  });

  test('come back the later, the more of their class were sent away', async () => {
    const calls = new Calls(10);
    const returns = (priority: CallPriority) => Array.from({ length: 50 }, () => calls.limit.returnAfter(priority));
    for (const ms of returns(2)) expect(ms).toBeLessThanOrEqual(1_500);
    calls.ask(2, 300);
    await vi.advanceTimersByTimeAsync(0);
    for (const ms of returns(2)) expect(ms).toBeGreaterThan(10 * SECOND);
    for (const ms of returns(2)) expect(ms).toBeLessThanOrEqual(90 * SECOND);
    for (const ms of returns(5)) expect(ms).toBeLessThanOrEqual(1_500);
    await vi.advanceTimersByTimeAsync(64 * SECOND);
    for (const ms of returns(2)) expect(ms).toBeLessThanOrEqual(1_500);
  });
});
