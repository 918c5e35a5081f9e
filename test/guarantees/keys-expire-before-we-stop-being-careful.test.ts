import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idempotencyKey } from '../../src/contract/idempotency.js';
import type { FaultInput } from '../../sandbox/control.js';
import { atFullCounts } from '../support/at-full-counts.js';
import { fullOr } from '../support/counts.js';
import { HOUR, MINUTE, type StartedCharge, startVirtualTime, type VirtualTime } from '../support/virtual-time.js';
import { expectOnLedger, plant } from '../time/checks.js';

const CHARGES_DOWN: FaultInput = { action: 'status', status: 503, method: 'POST', path: '*/charges' };
const CHARGE_REPLIES_LOST: FaultInput = { action: 'drop_reply', method: 'POST', path: '*/charges' };
const LISTS_DOWN: FaultInput = { action: 'status', status: 503, method: 'GET', path: '*/charges' };
const PAYMENTS_DOWN: FaultInput = { action: 'status', status: 503, method: 'POST', path: '/payments' };

const FULL = fullOr(1, 0) === 1;

/** Twenty hours of attempts take 12 s on an idle machine. */
const LONG = 240_000;

/** Whose window is open longest; at reduced counts the short one, which needs fewer sends to be over. */
const [WINDOW_MS, CARD] = FULL ? [20 * HOUR, {}] : [2.5 * HOUR, { cvv: '737' }];

type Window = [name: string, windowMs: number, card: { cvv?: string }];
/** The charge that acted and lost its reply goes through the long window anyway. */
const atReducedCountsTheShortOne = (long: Window, short: Window): Window[] => (FULL ? [long, short] : [short]);

let time: VirtualTime;
beforeAll(async () => {
  time = await startVirtualTime();
});
afterAll(async () => {
  await time?.close();
});

/** Every charge POST under the one key, to the end of the window and not a moment longer. Returns the last one's time. */
function expectSentFor(windowMs: number, { input, workflowId, startedAt }: StartedCharge): number {
  const posts = time.requests.chargePosts(input.reference);
  expect(new Set(posts.map(({ key }) => key))).toEqual(new Set([idempotencyKey(workflowId, 'createCharge', 1)]));
  const last = posts.at(-1)?.at ?? 0;
  expect(last - startedAt).toBeGreaterThan(windowMs - 2 * MINUTE);
  expect(last - startedAt).toBeLessThanOrEqual(windowMs);
  return last;
}

describe('a charge that the service never answers', () => {
  test.each(
    atReducedCountsTheShortOne(
      ['is sent for 20 h', 20 * HOUR, {}],
      ['that carries a CVV is sent for 2 h 30 min', 2.5 * HOUR, { cvv: '737' }],
    ),
  )(
    '%s, then only read until its absence is proven',
    async (_name, windowMs, card) => {
      const input = await time.input(card);
      await plant(time, input, CHARGES_DOWN);
      const charge = await time.start(input);
      const outcome = await charge.outcome();

      const last = expectSentFor(windowMs, charge);
      expect(outcome.status).toBe('notExecuted');
      const proof = outcome.evidence.proof ?? '';
      expect(proof).toMatch(/^the payment listed no charge of ours at /);
      const [first = 0, second = 0, third = 0, ...more] = [...proof.matchAll(/\d{4}-\S+Z/g)].map(([at]) =>
        Date.parse(at),
      );
      expect(more).toEqual([]);
      expect(first - last).toBeGreaterThanOrEqual(15 * MINUTE);
      expect(second).toBeGreaterThan(first);
      expect(third - first).toBeGreaterThanOrEqual(60 * MINUTE);
      // Each of the three stands for a list that the service really answered.
      const reads = time.requests.reads(outcome.paymentId).filter(({ at }) => at >= last + 15 * MINUTE);
      expect(reads.map(({ path }) => path)).toEqual(Array(3).fill(`/payments/${outcome.paymentId}/charges`));
      await expectOnLedger(time, charge, outcome);
    },
    LONG,
  );
});

test(
  'a charge that acted and lost its reply, with its key forgotten and nothing readable, is never sent again and found in the end',
  async () => {
    const input = await time.input(CARD);
    await plant(time, input, CHARGE_REPLIES_LOST);
    const unreadable = await plant(time, input, LISTS_DOWN);
    const charge = await time.start(input);

    await time.passUntil(charge.startedAt + 30 * HOUR);
    const { paymentId, ...status } = await charge.status();
    expect(status).toMatchObject({ status: 'unknown', waitingFor: 'proof' });
    // The service's own clock has passed the life of the key.
    const { now } = await time.sandbox.health();
    expect(Date.parse(now) - charge.startedAt).toBeGreaterThan(24 * HOUR);

    const readsBefore = time.requests.reads(paymentId).length;
    await time.passUntil(charge.startedAt + 46 * HOUR);
    expect(await charge.status()).toMatchObject({ status: 'unknown', needsOperator: true });
    // Hourly by now, three tries each: a history has room for months of that.
    expect(time.requests.reads(paymentId).length - readsBefore).toBeLessThanOrEqual(3 * 17);

    await time.sandbox.removeFault(unreadable.id);
    const outcome = await charge.outcome();
    expect(outcome).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
    expectSentFor(WINDOW_MS, charge);
    await expectOnLedger(time, charge, outcome);
  },
  LONG,
);

describe('not executed, because nothing that moves money was ever sent, is a charge', () => {
  const NOTHING_SENT = { status: 'notExecuted', evidence: { proof: 'no money operation was ever sent', attempts: 0 } };

  // Another one goes through the long window anyway.
  atFullCounts(
    'whose payment could not be created for 20 h',
    async () => {
      const input = await time.input();
      await plant(time, input, PAYMENTS_DOWN);
      const charge = await time.start(input);
      const outcome = await charge.outcome();

      expect(outcome).toMatchObject(NOTHING_SENT);
      const posts = time.requests.posts(input.reference);
      expect(new Set(posts.map(({ key }) => key))).toEqual(
        new Set([idempotencyKey(charge.workflowId, 'createPayment', 1)]),
      );
      expect((posts.at(-1)?.at ?? 0) - charge.startedAt).toBeLessThanOrEqual(20 * HOUR);
      expect(Date.parse(outcome.evidence.settledAt) - charge.startedAt).toBeGreaterThan(20 * HOUR - 2 * MINUTE);
      await expectOnLedger(time, charge, outcome);
    },
    LONG,
  );

  test.each(['client', 'raw'] as const)('that no worker took up for 21 h (%s start)', async (how) => {
    const input = await time.input();
    await time.stopWorker();
    const charge = await time.start(input, how);
    await time.passUnserved(charge.startedAt + 21 * HOUR);
    await time.startWorker();
    const outcome = await charge.outcome();

    expect(outcome).toMatchObject(NOTHING_SENT);
    expect(time.requests.posts(input.reference)).toEqual([]);
    await expectOnLedger(time, charge, outcome);
  });
});
