import { describe, expect, test } from 'vitest';
import type { FaultInput } from '../../../sandbox/control.js';
import { atFullCounts } from '../../support/at-full-counts.js';
import { fullOr } from '../../support/counts.js';
import { movements } from '../../support/payments.js';
import { beginHeld, ledgerRows } from '../../support/virtual-flows.js';
import { plant, signalEvent } from '../../time/checks.js';
import { LIMITS } from '../engine/limits.js';
import { DAY, HOUR, MINUTE, SECOND, sharedTime, shownRuns } from './context.js';

/** After so many events of a run the engine suggests the next one: in a short run soon, so that few show the same. */
const RUN = fullOr(LIMITS.suggestContinueAsNewEvents, 200);
const JOINS = fullOr(10_000, 80);
const time = sharedTime({}, { suggestRunAfter: () => RUN });

const PENDS: FaultInput = { action: 'result', status: 'Pending', path: '*/charges' };

const runsOf = (workflowId: string) => shownRuns(time, workflowId);

describe('a charge that pends', () => {
  const days = fullOr(3_650, 30);

  test(`for ${days} days is followed to its end, by runs that stay short`, async () => {
    const input = await time.input();
    await plant(time, input, PENDS);
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 2 * SECOND);
    const before = await charge.status();
    await time.passUntil(charge.startedAt + days * DAY);
    expect(await charge.status()).toMatchObject({
      status: 'pending',
      waitingFor: 'settlement',
      needsOperator: true,
      paymentId: before.paymentId,
      transactionId: before.transactionId,
      since: before.since,
    });
    const runs = runsOf(charge.workflowId);
    expect(runs.length).toBeGreaterThan(1);
    expect(Math.max(...runs)).toBeLessThan(RUN + 200);
    await time.sandbox.complete(before.transactionId ?? '', { status: 'Succeed' });
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded', transactionId: before.transactionId });
    expect(await movements(time, input.reference)).toEqual(['charge Succeed 1095 USD']);
    expect(time.requests.posts(input.reference)).toHaveLength(2);
  });

  test('is read once a day after two weeks, and at once when somebody asks for it', async () => {
    const input = await time.input();
    await plant(time, input, PENDS);
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 20.5 * DAY);
    const { dueAt = '' } = await charge.status();
    expect(Date.parse(dueAt) - (await time.now())).toBeGreaterThan(HOUR);
    await time.sandbox.complete((await charge.status()).transactionId ?? '', { status: 'Succeed' });
    await time.holdfast.retryNow(input.reference, { who: 'Grace Hopper', why: 'the bank says it is done' });
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
  });
});

describe('a service that asks for a wait of a day', () => {
  const BUSY = { action: 'status', status: 429, retry_after_s: DAY / SECOND, method: 'POST', times: 1 } as const;

  test.each([
    ['at the first try', []],
    ['later', [{ ...BUSY, status: 503, retry_after_s: 1 }]],
  ])('is asked again after an hour, and looked at meanwhile (%s)', async (_when, before) => {
    const input = await time.input();
    for (const fault of [...before, BUSY]) await plant(time, input, { ...fault, path: '*/charges' });
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 59 * MINUTE);
    const { paymentId = '' } = await charge.status();
    expect(time.requests.reads(paymentId).length).toBeGreaterThan(3);
    await time.passUntil(charge.startedAt + 70 * MINUTE);
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, input.reference)).toEqual(['charge Succeed 1095 USD']);
  });

  test('can be ended by a person while no worker is there', async () => {
    const input = await time.input();
    await plant(time, input, { ...BUSY, path: '*/charges' });
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 5 * MINUTE - 5 * SECOND);
    await time.stopWorker();
    // The wait for the next look is over as well by the time that a worker is there again.
    const woken = time.holdfast.retryNow(input.reference, { who: 'Grace Hopper', why: 'the service is well again' });
    await time.passUnserved(charge.startedAt + 5 * MINUTE + 3 * SECOND);
    await time.startWorker();
    await woken;
    await time.passUntil(charge.startedAt + 10 * MINUTE);
    expect(await movements(time, input.reference)).toEqual(['charge Succeed 1095 USD']);
  });

  test('can be ended by a person', async () => {
    const input = await time.input();
    await plant(time, input, { ...BUSY, path: '*/charges' });
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 10 * SECOND);
    const { dueAt = '' } = await charge.status();
    expect(Date.parse(dueAt)).toBeLessThan(charge.startedAt + HOUR);
    expect(await time.holdfast.explain(input.reference)).toMatch(/`retryNow`.*Never repeat it/);

    const asked = await time.now();
    await time.holdfast.retryNow(input.reference, { who: 'Grace Hopper', why: 'the service is well again' });
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
    // No longer than a service's other POSTs are held back, with their jitter.
    expect((await time.now()) - asked).toBeLessThan(2 * MINUTE);
    expect(await movements(time, input.reference)).toEqual(['charge Succeed 1095 USD']);
  });
});

describe('a hold', () => {
  // In each run charges are asked about more often than one run allows, and short-runs has holds that continue in a next one.
  atFullCounts('that is asked about every five minutes answers to its last day, and takes its commands', async () => {
    const hold = await beginHeld(time);
    const { startedAt } = hold;
    const handle = time.client.workflow.getHandle(hold.workflowId);
    const memo = (await handle.describe()).memo as { holdfastFingerprint: string };
    for (let at = startedAt; at < startedAt + 5.5 * DAY; at += 5 * MINUTE) {
      await time.passUntil(at);
      const answer = await handle.executeUpdate<{ status: string }, [object]>('outcome', {
        args: [{ type: 'authorizeAndCapture', fingerprint: memo.holdfastFingerprint, waitFor: 0 }],
      });
      expect(answer.status).toBe('authorized');
    }
    const runs = runsOf(hold.workflowId);
    expect(runs.length).toBeGreaterThan(1);
    expect(await hold.ask('capture', { commandId: 'take' })).toMatchObject({ status: 'succeeded' });
    expect(await hold.outcome()).toMatchObject({ status: 'captured' });
    expect(await ledgerRows(time, (await hold.status()).paymentId)).toEqual([
      'authorization Succeed 6000 USD',
      'capture Succeed 6000 USD',
    ]);
  });
});

describe('whoever waits while a run gives way to the next one', () => {
  test(`${JOINS} charges that join one open flow are told that it pends, and none of them moves money`, async () => {
    const input = await time.input();
    await plant(time, input, PENDS);
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 2 * SECOND);
    for (let joined = 0; joined < JOINS; joined += 5) {
      const answers = await Promise.all(
        [1, 2, 3, 4, 5].map(() => time.holdfast.charge(input, { waitFor: '5 seconds' })),
      );
      for (const { status } of answers) expect(status).toBe('pending');
    }
    const runs = runsOf(charge.workflowId);
    expect(runs.length).toBeGreaterThanOrEqual(Math.ceil(JOINS / 1_000));
    await time.sandbox.complete((await charge.status()).transactionId ?? '', { status: 'Succeed' });
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await time.holdfast.charge(input)).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, input.reference)).toEqual(['charge Succeed 1095 USD']);
  });
});

describe('a repost that its business unit holds back', () => {
  async function heldBack() {
    const path = '*/charges';
    const input = await time.input();
    await plant(time, input, { action: 'result', status: 'Failed', category: 'provider_network_error', path });
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 13 * SECOND);
    const other = await time.input();
    await plant(time, other, { action: 'status', status: 429, retry_after_s: 30, method: 'POST', path, times: 1 });
    await time.start(other);
    await time.passUntil(charge.startedAt + 20 * SECOND);
    expect(time.requests.chargePosts(input.reference)).toHaveLength(1);
    return { input, charge };
  }

  test('is given again, and not used up', async () => {
    const { input, charge } = await heldBack();
    await time.passUntil(charge.startedAt + 70 * MINUTE);
    expect(await charge.outcome()).toMatchObject({ status: 'declined', confirmed: false });
    const posts = time.requests.chargePosts(input.reference);
    const times = posts.map(({ at }) => at - charge.startedAt);
    const [held = 0] = times.slice(1);
    expect(held).toBeGreaterThanOrEqual(43 * SECOND);
    expect(held).toBeLessThan(60 * SECOND);
    expect(times.slice(2).map((at) => Math.floor((at - held) / SECOND))).toEqual([45, 225, 585]);
    expect(new Set(posts.map(({ key }) => key)).size).toBe(1);
    expect(await movements(time, input.reference)).toEqual(['charge Failed 1095 USD']);
  });

  test('gives way to a signed event, which settles its charge', async () => {
    const { input, charge } = await heldBack();
    const { paymentId = '', transactionId = '' } = await charge.status();
    const unsigned = { paymentId, transactionId, trusted: false };
    await signalEvent(time, charge, { ...unsigned, hash: 'unsigned' });
    const settles = { paymentId, transactionId, status: 'Succeed', amount: 1_095, currency: 'USD' } as const;
    await signalEvent(time, charge, settles);
    await time.passUntil(charge.startedAt + 25 * SECOND);
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'webhook' } });
    expect(time.requests.chargePosts(input.reference)).toHaveLength(1);
  });
});

test.each([429, 503])(
  'a service that answers %i with a Retry-After of no time is asked again all the same',
  async (status) => {
    for (const path of ['/payments', '*/charges']) {
      const input = await time.input();
      const busy = { action: 'status', status, retry_after_s: 0, method: 'POST', path, times: 4 } as const;
      const { id } = await time.sandbox.addFault(busy);
      const charge = await time.start(input);
      await time.passUntil(charge.startedAt + 5 * MINUTE);
      expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
      expect(await movements(time, input.reference)).toEqual(['charge Succeed 1095 USD']);
      await time.sandbox.removeFault(id);
    }
  },
);
