import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { ChargeInput } from '../../src/contract/charge.js';
import { differencesFromLedger } from '../support/ledger-check.js';
import type { VirtualTime } from '../support/virtual-time.js';
import { HOUR, MINUTE, startVirtualTime } from '../support/virtual-time.js';

const WINDOW = 20 * HOUR;
const WINDOW_WITH_CVV = 2.5 * HOUR;

let time: VirtualTime;
beforeAll(async () => {
  time = await startVirtualTime();
});
afterAll(async () => {
  await time?.close();
});

/** ms from the start of a charge to each attempt to move money, and the keys they carried. */
function attempts({ reference }: ChargeInput, startedAt: number): { at: number[]; keys: Set<string | undefined> } {
  const posts = time.requests.chargePosts(reference);
  return { at: posts.map(({ at }) => at - startedAt), keys: new Set(posts.map(({ key }) => key)) };
}

describe('a charge that the service never answers', () => {
  test.each([
    ['is sent for 20 h', WINDOW, {}],
    ['and that carries a CVV is sent for 2 h 30 min', WINDOW_WITH_CVV, { cvv: '737' }],
  ])('%s under one key, then only read until its absence is proven', async (_, window, options) => {
    const input = await time.input(options);
    const { reference } = input;
    const away = { action: 'status', status: 503, method: 'POST', path: '*/charges' } as const;
    await time.sandbox.addFault({ ...away, reconciliation_id: reference });
    const charge = await time.start(input);
    const outcome = await charge.outcome();

    const { at, keys } = attempts(input, charge.startedAt);
    const last = at.at(-1) ?? 0;
    // Tried to the last, and not a moment longer.
    expect(last).toBeGreaterThan(window - 2 * MINUTE);
    expect(last).toBeLessThanOrEqual(window);
    expect([...keys]).toEqual([`payment-${reference}:createCharge:1`]);

    const reads = time.requests.reads(outcome.paymentId).map((read) => read.at - charge.startedAt);
    const proving = reads.filter((read) => read >= last + 15 * MINUTE);
    expect(proving.length).toBeGreaterThanOrEqual(3);
    expect((proving.at(-1) ?? 0) - (proving[0] ?? 0)).toBeGreaterThanOrEqual(60 * MINUTE);
    expect(outcome).toMatchObject({ status: 'notExecuted', evidence: { proof: expect.any(String) } });
    expect(differencesFromLedger([{ input, answer: outcome }], await time.sandbox.ledger(reference))).toEqual([]);
  });
});

describe('a charge on which the service acted without anybody hearing of it', () => {
  test('is not sent after its window, and is found as soon as the service can be read again', async () => {
    const input = await time.input({ cvv: '737' });
    const here = { reconciliation_id: input.reference };
    await time.sandbox.addFault({ action: 'drop_reply', method: 'POST', path: '*/charges', times: 1, ...here });
    await time.sandbox.addFault({ action: 'status', status: 503, method: 'POST', path: '*/charges', ...here });
    const unreadable = await time.sandbox.addFault({ action: 'status', status: 503, method: 'GET', ...here });
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 10 * HOUR);
    const { status, paymentId } = await charge.status();
    expect(status).toBe('unknown');
    // At this rate a flow that waits for weeks stays far below the length at which the engine ends a history.
    expect(time.requests.reads(paymentId).length).toBeLessThan(100);
    await time.sandbox.removeFault(unreadable.id);

    const outcome = await charge.outcome();
    expect(Math.max(...attempts(input, charge.startedAt).at)).toBeLessThanOrEqual(WINDOW_WITH_CVV);
    expect(outcome).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
    const ledger = await time.sandbox.ledger(input.reference);
    expect(differencesFromLedger([{ input, answer: outcome }], ledger)).toEqual([]);
  });
});
