import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { idempotencyKey } from '../../src/contract/idempotency.js';
import type { FaultInput } from '../../sandbox/control.js';
import { CARDS } from '../support/charges.js';
import { gaps } from '../support/request-log.js';
import {
  HOUR,
  MINUTE,
  SECOND,
  type StartedCharge,
  startVirtualTime,
  type VirtualTime,
} from '../support/virtual-time.js';
import { expectOnLedger, expectGaps, plant, signalEvent } from './checks.js';

const FIRST_POLLS = [5 * SECOND, 15 * SECOND, MINUTE, 5 * MINUTE, 15 * MINUTE];
const REPOSTS = [15 * SECOND, 45 * SECOND, 3 * MINUTE, 6 * MINUTE];
const STAYS_PENDING: FaultInput = { action: 'result', status: 'Pending', path: '*/charges' };
const NETWORK_ERROR: FaultInput = {
  action: 'result',
  status: 'Failed',
  category: 'provider_network_error',
  path: '*/charges',
};
const UNCONFIRMED_DECLINE = {
  status: 'declined',
  category: 'provider_network_error',
  confirmed: false,
  retryable: 'nobody',
};

let time: VirtualTime;
beforeAll(async () => {
  time = await startVirtualTime();
});
afterAll(async () => {
  await time?.close();
});

/** The provider at last answers with success, to somebody who asks under the same key. */
async function succeedLate({ input, workflowId }: StartedCharge, paymentId = ''): Promise<void> {
  const { type, token } = input.paymentMethod;
  await time.provider.createCharge(
    paymentId,
    { paymentMethod: { type, token }, reconciliationId: input.reference },
    { idempotencyKey: idempotencyKey(workflowId, 'createCharge', 1) },
  );
}

test('a charge that pends for three days is polled ever less often, an operator is asked after one, and a poll settles it', async () => {
  const input = await time.input();
  await plant(time, input, STAYS_PENDING);
  const charge = await time.start(input);

  await time.passUntil(charge.startedAt + 24 * HOUR - MINUTE);
  expect(await charge.status()).toMatchObject({ status: 'pending', waitingFor: 'settlement', needsOperator: false });
  await time.passUntil(charge.startedAt + 25.5 * HOUR);
  expect(await charge.status()).toMatchObject({ status: 'pending', needsOperator: true });
  await time.passUntil(charge.startedAt + 72 * HOUR);
  const { paymentId, transactionId = '' } = await charge.status();

  const posts = time.requests.chargePosts(input.reference);
  expect(posts).toHaveLength(1);
  const reads = time.requests.reads(paymentId);
  expectGaps(gaps([...posts, ...reads]), [...FIRST_POLLS, ...Array<number>(70).fill(HOUR)]);
  expect(reads.length).toBeLessThanOrEqual(FIRST_POLLS.length + 72);
  expect(new Set(reads.map(({ path }) => path))).toEqual(new Set([`/payments/${paymentId}/charges/${transactionId}`]));

  await time.sandbox.complete(transactionId, { status: 'Succeed' });
  const outcome = await charge.outcome();
  expect(outcome).toMatchObject({ status: 'succeeded', transactionId, evidence: { knownBy: 'poll' } });
  expect(await charge.status()).toMatchObject({ needsOperator: false });
  await expectOnLedger(time, charge, outcome);
});

describe('a charge whose provider can not be reached', () => {
  test('is asked five times in ten minutes under one key, then read, and after an hour declined for nobody to repeat', async () => {
    const input = await time.input();
    await plant(time, input, NETWORK_ERROR);
    const charge = await time.start(input);
    const outcome = await charge.outcome();

    expect(outcome).toMatchObject(UNCONFIRMED_DECLINE);
    const posts = time.requests.chargePosts(input.reference);
    expect(posts).toHaveLength(1 + REPOSTS.length);
    expectGaps(gaps(posts), REPOSTS);
    expect(new Set(posts.map(({ key }) => key)).size).toBe(1);
    const first = posts[0]?.at ?? 0;
    const reads = time.requests.reads(outcome.paymentId);
    const read = reads.filter(({ at }) => at > (posts.at(-1)?.at ?? 0));
    expect(read.length).toBeGreaterThanOrEqual(3);
    // Looked at when the hour is over, and not taken for final before.
    expect((read.at(-1)?.at ?? 0) - first).toBeGreaterThanOrEqual(HOUR - SECOND);
    expect(Date.parse(outcome.evidence.settledAt) - first).toBeLessThan(HOUR + 5 * MINUTE);
    await expectOnLedger(time, charge, outcome);
  });

  test('is declined in the same way where the service replays that answer to a known key', async () => {
    const [unit] = await time.sandbox.businessUnits();
    const app_id = unit?.app_id ?? '';
    await time.sandbox.putBusinessUnit({ app_id, profile: { replay_network_errors: true } });
    const input = await time.input();
    await plant(time, input, { ...NETWORK_ERROR, times: 1 });
    const charge = await time.start(input);
    const outcome = await charge.outcome();
    await time.sandbox.putBusinessUnit({ app_id, profile: { replay_network_errors: false } });

    expect(outcome).toMatchObject(UNCONFIRMED_DECLINE);
    expect(time.requests.chargePosts(input.reference)).toHaveLength(1 + REPOSTS.length);
    await expectOnLedger(time, charge, outcome);
  });

  test('is asked no more often where those questions stay unanswered: each is one single try', async () => {
    const input = await time.input();
    await plant(time, input, { ...NETWORK_ERROR, times: 1 });
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 5 * SECOND);
    await plant(time, input, { action: 'status', status: 503, method: 'POST', path: '*/charges' });
    const outcome = await charge.outcome();

    expect(outcome).toMatchObject(UNCONFIRMED_DECLINE);
    expectGaps(gaps(time.requests.chargePosts(input.reference)), REPOSTS);
    expect(time.requests.chargePosts(input.reference)).toHaveLength(1 + REPOSTS.length);
    await expectOnLedger(time, charge, outcome);
  });

  test('is not believed to pend again by an older event, nor declined by one that does not say why', async () => {
    const input = await time.input();
    await plant(time, input, NETWORK_ERROR);
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 30 * MINUTE);
    const { paymentId = '', transactionId = '' } = await charge.status();
    await signalEvent(time, charge, { paymentId, transactionId, status: 'Pending' });
    await signalEvent(time, charge, { paymentId, transactionId, status: 'Failed' });
    expect(await charge.status()).toMatchObject({ status: 'unknown', waitingFor: 'settlement' });
    const outcome = await charge.outcome();

    expect(outcome).toMatchObject({ ...UNCONFIRMED_DECLINE, transactionId });
    // Its hour was neither cut short nor begun again.
    const settled = Date.parse(outcome.evidence.settledAt) - charge.startedAt;
    expect({ early: settled < HOUR - SECOND, late: settled > HOUR + 5 * MINUTE }).toEqual({
      early: false,
      late: false,
    });
    await expectOnLedger(time, charge, outcome);
  });

  test('succeeds when it is reached while the flow still asks', async () => {
    const input = await time.input();
    await plant(time, input, { ...NETWORK_ERROR, times: 2 });
    const charge = await time.start(input);
    const outcome = await charge.outcome();

    expect(outcome).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'reply' } });
    expect(time.requests.chargePosts(input.reference)).toHaveLength(3);
    await expectOnLedger(time, charge, outcome);
  });

  test('succeeds when a read shows it after the flow has stopped asking', async () => {
    const input = await time.input();
    const unreachable = await plant(time, input, NETWORK_ERROR);
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 30 * MINUTE);
    await time.sandbox.removeFault(unreachable.id);
    const { paymentId } = await charge.status();
    await succeedLate(charge, paymentId);
    const outcome = await charge.outcome();

    expect(outcome).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
    expect(time.requests.chargePosts(input.reference)).toHaveLength(1 + REPOSTS.length);
    await expectOnLedger(time, charge, outcome);
  });

  test('after two hours of pending is given its own hour before it is declined', async () => {
    const input = await time.input();
    const pending = await plant(time, input, { ...STAYS_PENDING, times: 1 });
    await plant(time, input, NETWORK_ERROR);
    const charge = await time.start(input);
    const turnedAt = charge.startedAt + 2 * HOUR;
    await time.passUntil(turnedAt);
    const { transactionId = '' } = await charge.status();
    await time.sandbox.removeFault(pending.id);
    await time.sandbox.complete(transactionId, { status: 'Failed', category: 'provider_network_error' });
    const outcome = await charge.outcome();

    expect(outcome).toMatchObject({ ...UNCONFIRMED_DECLINE, transactionId });
    expect(Date.parse(outcome.evidence.settledAt) - turnedAt).toBeGreaterThanOrEqual(HOUR);
    expect(time.requests.chargePosts(input.reference).length).toBeLessThanOrEqual(1 + REPOSTS.length);
    await expectOnLedger(time, charge, outcome);
  });
});

test('a charge that fails with provider_error is read once, five seconds later, and then declined', async () => {
  const input = await time.input({ card: CARDS.declines });
  const charge = await time.start(input);
  const outcome = await charge.outcome();

  expect(outcome).toMatchObject({
    status: 'declined',
    category: 'provider_error',
    confirmed: true,
    retryable: 'newReference',
  });
  const requests = [...time.requests.chargePosts(input.reference), ...time.requests.reads(outcome.paymentId)];
  expect(requests.map(({ method }) => method)).toEqual(['POST', 'GET']);
  expectGaps(gaps(requests), [5 * SECOND]);
  await expectOnLedger(time, charge, outcome);
});
