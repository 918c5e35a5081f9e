import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { randomUUID } from 'node:crypto';
import type { FaultInput } from '../../sandbox/control.js';
import { chargeInput } from '../support/charges.js';
import { fullOr } from '../support/counts.js';
import { MINUTE, type StartedCharge, startVirtualTime, type VirtualTime } from '../support/virtual-time.js';
import { expectOnLedger, plant, signalEvent } from '../time/checks.js';

/** The first charge POST of a flow stays unanswered: the service has acted on it, or it has not. */
const UNANSWERED: FaultInput = { action: 'status', status: 503, method: 'POST', path: '*/charges', times: 1 };
const FIRST_REPLY_LOST: FaultInput = { action: 'drop_reply', method: 'POST', path: '*/charges', times: 1 };
const LIST_DOWN: FaultInput = { action: 'status', status: 503, method: 'GET', path: '*/charges' };
const refusal = (status: number): FaultInput => ({ action: 'status', status, method: 'POST', path: '*/charges' });

let time: VirtualTime;
beforeAll(async () => {
  time = await startVirtualTime();
});
afterAll(async () => {
  await time?.close();
});

/** The short window of a CVV, so that what is sent until it closes is not sent a thousand times. */
async function startWith(...faults: FaultInput[]): Promise<StartedCharge> {
  const input = await time.input({ cvv: '737' });
  for (const fault of faults) await plant(time, input, fault);
  return await time.start(input);
}

/** Lists leave out what is younger than this. */
async function setListLag(ms: number): Promise<void> {
  const [unit] = await time.sandbox.businessUnits();
  await time.sandbox.putBusinessUnit({ app_id: unit?.app_id ?? '', profile: { list_lag_ms: ms } });
}

describe('a refusal of the second attempt, when the first was not answered', () => {
  test.each([
    [400, 'token already used'],
    [404, 'payment unknown'],
    [409, 'payment already charged'],
  ])('with %i (%s) does not end a charge that acted and that no list shows yet', async (status) => {
    await setListLag(5 * MINUTE);
    const charge = await startWith(FIRST_REPLY_LOST, refusal(status));
    await time.passUntil(charge.startedAt + 4 * MINUTE);
    expect(await time.sandbox.ledger(charge.input.reference)).toMatchObject([{ status: 'Succeed' }]);
    expect((await charge.status()).outcome).toBeUndefined();

    const outcome = await charge.outcome();
    await setListLag(0);
    expect(outcome).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
    await expectOnLedger(time, charge, outcome);
  });

  // A 409 may mean "still being worked on": it is asked again, minute by minute, until the window closes.
  test.each([400, 404, 409].slice(0, fullOr(3, 2)))(
    'with %i ends a charge as not executed only once three empty lists over an hour have proven that',
    async (status) => {
      const charge = await startWith(UNANSWERED, refusal(status));
      const outcome = await charge.outcome();

      expect(outcome).toMatchObject({ status: 'notExecuted', evidence: { knownBy: 'poll' } });
      expect(outcome.evidence.proof).toMatch(/^the payment listed no charge of ours at (\S+Z(, )?){3}$/);
      const posts = time.requests.chargePosts(charge.input.reference);
      expect(posts.length).toBeGreaterThanOrEqual(2);
      const settled = Date.parse(outcome.evidence.settledAt);
      expect(settled - (posts.at(-1)?.at ?? 0)).toBeGreaterThanOrEqual(75 * MINUTE);
      await expectOnLedger(time, charge, outcome);
    },
  );
});

test.each([401, 403].slice(0, fullOr(2, 1)))(
  '%i in answer to the second attempt parks a charge that acted, and a mended key shows its one movement',
  async (status) => {
    const input = await time.input();
    await plant(time, input, FIRST_REPLY_LOST);
    const rejected = await plant(time, input, refusal(status));
    const unreadable = await plant(time, input, LIST_DOWN);
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 10 * MINUTE);
    expect(await charge.status()).toMatchObject({ waitingFor: 'credentials', needsOperator: true });

    await time.sandbox.removeFault(rejected.id);
    const outcome = await charge.outcome();
    await time.sandbox.removeFault(unreadable.id);
    expect(outcome).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'reply' } });
    expect(await charge.status()).toMatchObject({ needsOperator: false });
    await expectOnLedger(time, charge, outcome);
  },
);

describe('a charge that acted, lost its reply and is refused ever after is never called "not executed"', () => {
  test('while its list answers garbage, 401, 503 or nothing, and is found once that answers', async () => {
    const unreadable: FaultInput[] = [
      { action: 'garbage', method: 'GET', path: '*/charges' },
      { ...LIST_DOWN, status: 401 },
      LIST_DOWN,
      { action: 'refuse', method: 'GET', path: '*/charges' },
    ];
    const charges: StartedCharge[] = [];
    for (const fault of unreadable.slice(0, fullOr(4, 2))) {
      charges.push(await startWith(FIRST_REPLY_LOST, refusal(400), fault));
    }
    // Three empty lists would have been proof by now.
    await time.passUntil((charges.at(-1)?.startedAt ?? 0) + 80 * MINUTE);
    for (const charge of charges) {
      expect(await charge.status()).toMatchObject({ status: 'unknown', waitingFor: 'proof' });
      expect(time.requests.chargePosts(charge.input.reference)).toHaveLength(2);
    }
    await time.sandbox.clearFaults();
    for (const charge of charges) {
      const outcome = await charge.outcome();
      expect(outcome).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
      await expectOnLedger(time, charge, outcome);
    }
  });

  test('while its list answers 404, and is asked for under its one key as long as that may be asked', async () => {
    const charge = await startWith(FIRST_REPLY_LOST, refusal(400), { ...LIST_DOWN, status: 404 });
    await time.passUntil(charge.startedAt + 80 * MINUTE);
    expect(await charge.status()).toMatchObject({ status: 'started', waitingFor: 'provider' });
    const posts = time.requests.chargePosts(charge.input.reference);
    expect(posts.length).toBeGreaterThan(2);
    expect(new Set(posts.map(({ key }) => key)).size).toBe(1);
    await time.sandbox.clearFaults();
    const outcome = await charge.outcome();
    expect(outcome).toMatchObject({ status: 'succeeded' });
    await expectOnLedger(time, charge, outcome);
  });

  test('while its list is down, and is found at once by an event that names it', async () => {
    const charge = await startWith(FIRST_REPLY_LOST, refusal(400), LIST_DOWN);
    await time.passUntil(charge.startedAt + 10 * MINUTE);
    expect(await charge.status()).toMatchObject({ status: 'unknown', waitingFor: 'proof' });
    const [made] = await time.sandbox.ledger(charge.input.reference);
    const { payment_id: paymentId = '', transaction_id: transactionId = '' } = made ?? {};
    await signalEvent(time, charge, { paymentId, transactionId });

    const outcome = await charge.outcome();
    expect(outcome).toMatchObject({ status: 'succeeded', transactionId, evidence: { knownBy: 'webhook' } });
    expect(Date.parse(outcome.evidence.settledAt) - charge.startedAt).toBeLessThan(11 * MINUTE);
    await expectOnLedger(time, charge, outcome);
  });
});

test('nor is one on whose payment there is a charge of somebody else, which is not taken for ours either', async () => {
  const charge = await startWith(UNANSWERED, { ...refusal(400), times: 1 });
  await time.passUntil(charge.startedAt + MINUTE);
  const { paymentId = '' } = await charge.status();
  const { paymentMethod, reference } = await chargeInput(time.sandbox);
  const foreign = { paymentMethod, reconciliationId: reference, additionalDetails: { holdfast_key: randomUUID() } };
  const { data } = await time.provider.createCharge(paymentId, foreign, { idempotencyKey: randomUUID() });

  await time.passUntil(charge.startedAt + 90 * MINUTE);
  const status = await charge.status();
  expect(status).toMatchObject({ status: 'unknown', waitingFor: 'proof', needsOperator: true });
  expect(status.operatorReason).toContain(data.id);
  const decision = { status: 'notExecuted', who: 'Grace Hopper', why: 'the charge is that of another shop' } as const;
  await time.holdfast.settleManually(charge.input.reference, decision);
  expect(await charge.outcome()).toMatchObject({ status: 'notExecuted', evidence: { knownBy: 'operator' } });
});
