import { randomUUID } from 'node:crypto';
import { afterEach, describe, expect, test } from 'vitest';
import { idempotencyKey } from '../../../src/contract/idempotency.js';
import { MEMO_KEYS, paymentWorkflowId } from '../../../src/contract/names.js';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import type { Profile } from '../../../sandbox/records.js';
import { movements } from '../../support/payments.js';
import { resetToFirstTask } from '../../support/resets.js';
import { beginHeld, reviewedInput } from '../../support/virtual-flows.js';
import { serviceOf } from '../../support/service.js';
import { SANDBOX_URL } from '../world/world.js';
import {
  answers,
  beginFlow,
  DAY,
  FLOW_TYPES,
  type FlowType,
  HOUR,
  inputOf,
  lostReply,
  MINUTE,
  OPERATOR,
  scheduledOf,
  SECOND,
  sharedTime,
  startRaw,
} from './context.js';

const time = sharedTime();

const CHARGES = '*/charges';
/** What moves the money of each flow that does. */
const MOVES = {
  charge: ['createCharge', CHARGES],
  authorizeAndCapture: ['authorize', '*/authorizations'],
  credit: ['credit', '*/credits'],
  storeCard: ['createCharge', CHARGES],
} as const;
const MONEY = Object.keys(MOVES) as (keyof typeof MOVES)[];

/** A card whose CVV was taken now, and which goes into review. */
async function reviewedWithCvv(risk: object) {
  const { paymentMethod } = await time.input({ cvv: '737' });
  return await reviewedInput(time, { paymentMethod, risk });
}

/** ms after the start at which each POST of a kind left. */
function sentAfter(startedAt: number, reference: string, path: string): number[] {
  return time.requests
    .posts(reference)
    .filter((sent) => sent.path.endsWith(path.replace('*', '')))
    .map(({ at }) => at - startedAt);
}

describe('a CVV is as old as the flow that was given it', () => {
  test.each(['charge', 'authorizeAndCapture'] as const)(
    'so that a %s whose review took three hours is not sent, and what is told is that no money moved',
    async (type) => {
      const flow = await beginFlow(time, type, await reviewedWithCvv({ reviewTimeLimit: '1 day' }));
      await time.passUntil(flow.startedAt + 3 * HOUR);
      await flow.ask('decideReview', { ...OPERATOR, decision: 'approve' });
      // No reads for an hour have to prove what is known: nothing was ever sent.
      await time.passUntil(flow.startedAt + 3 * HOUR + MINUTE);
      expect(await flow.status()).toMatchObject({ status: 'notExecuted' });
      expect(await flow.outcome()).toMatchObject({
        status: 'notExecuted',
        amount: 6_000,
        currency: 'USD',
        evidence: { attempts: 0, proof: 'no money operation was ever sent' },
      });
      expect(sentAfter(flow.startedAt, flow.reference, MOVES[type][1])).toEqual([]);
      expect(await movements(time, flow.reference)).toEqual([]);
    },
  );

  test('so that a reset run of such a charge reads all the same: the run before it may have sent something', async () => {
    const from = await time.now();
    const input = await reviewedWithCvv({ reviewTimeLimit: '1 day' });
    // Of a flow that our client has not started the engine can't tell whether a task was lost.
    const flow = await startRaw(time, 'charge', input);
    await time.passUntil(from + 2 * HOUR);
    await flow.executeUpdate('decideReview', { args: [{ ...OPERATOR, decision: 'approve' }] });
    expect(await flow.result()).toMatchObject({ status: 'succeeded' });
    await time.passUntil(from + 3 * HOUR);
    await resetToFirstTask(time.client, flow.workflowId);
    const again = time.client.workflow.getHandle(flow.workflowId);
    expect(await again.result()).toMatchObject({ status: 'succeeded' });
  });

  test('so that a charge whose review took two hours is sent, though for half an hour only', async () => {
    const input = await reviewedWithCvv({ reviewTimeLimit: '1 day' });
    const flow = await beginFlow(time, 'charge', input, [answers(503, 'POST', CHARGES)]);
    await time.passUntil(flow.startedAt + 2 * HOUR);
    await flow.ask('decideReview', { ...OPERATOR, decision: 'approve' });
    expect(await flow.outcome()).toMatchObject({ status: 'notExecuted' });
    const sent = sentAfter(flow.startedAt, flow.reference, CHARGES);
    expect(sent.length).toBeGreaterThan(10);
    expect(Math.min(...sent)).toBeGreaterThanOrEqual(2 * HOUR);
    expect(Math.max(...sent)).toBeLessThan(2.5 * HOUR);
    expect(await movements(time, flow.reference)).toEqual([]);
  });
});

test('a worker whose clock is two hours slow sends nothing after the window of a CVV: the server ends its tries', async () => {
  await time.stopWorker();
  const slow = time.simulation.startWorker({ aheadMs: -2 * HOUR });
  const input = await time.input({ cvv: '737' });
  const flow = await beginFlow(time, 'charge', input, [answers(503, 'POST', CHARGES)]);
  await time.passUntil(flow.startedAt + 2.5 * HOUR + MINUTE);
  expect(await flow.status()).toMatchObject({ status: 'unknown', waitingFor: 'proof' });
  expect(await flow.outcome()).toMatchObject({ status: 'notExecuted' });
  expect(Math.max(...sentAfter(flow.startedAt, flow.reference, CHARGES))).toBeLessThan(2.5 * HOUR);
  expect(await movements(time, flow.reference)).toEqual([]);
  await slow.stop();
  await time.startWorker();
});

test('a charge that no subscription has started lives by its own start, whatever its memo says', async () => {
  const input = await inputOf(time, 'charge');
  const away = answers(503, 'POST', CHARGES);
  const fault = await time.sandbox.addFault({ ...away, reconciliation_id: input.reference });
  const from = await time.now();
  const flow = await startRaw(time, 'charge', input, { memo: { [MEMO_KEYS.decidedAt]: from + 3 * DAY } });
  await time.passUntil(from + 30 * HOUR);
  await time.sandbox.removeFault(fault.id);
  expect(await flow.result()).toMatchObject({ status: 'notExecuted' });
  const sent = sentAfter(from, input.reference, CHARGES);
  expect(Math.max(...sent)).toBeGreaterThan(19 * HOUR);
  expect(Math.max(...sent)).toBeLessThan(20 * HOUR);
  expect(await movements(time, input.reference)).toEqual([]);
});

describe('what is done after days of a hold has a window of its own', () => {
  test.each([
    ['void', 'voided'],
    ['capture', 'captured'],
  ] as const)('a %s on the fifth day is sent, again after a lost reply, and ends the hold', async (name, status) => {
    const hold = await beginHeld(time, {}, { faults: [lostReply(`*/${name}s`)] });
    await time.passUntil(hold.startedAt + 5 * DAY);
    const { answer } = await hold.command(name);
    await time.passUntil(hold.startedAt + 5 * DAY + HOUR);
    expect(await answer).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'reply', attempts: 1 } });
    expect(await hold.outcome()).toMatchObject({ status });
    expect(await movements(time, hold.reference)).toEqual([
      'authorization Succeed 6000 USD',
      `${name} Succeed 6000 USD`,
    ]);
  });

  test('a void that is not answered is given up sending after 20 hours of its own', async () => {
    const hold = await beginHeld(
      time,
      {},
      { faults: [{ ...answers(429, 'POST', '*/voids'), retry_after_s: 2_400, times: 31 }] },
    );
    const from = hold.startedAt + 2 * DAY;
    await time.passUntil(from);
    await hold.command('void');
    await time.passUntil(from + 21 * HOUR);
    const sent = sentAfter(from, hold.reference, '*/voids');
    expect(Math.max(...sent)).toBeGreaterThan(19 * HOUR);
    expect(Math.max(...sent)).toBeLessThan(20 * HOUR);
    expect(await hold.outcome()).toMatchObject({ status: 'voided', amount: 6_000 });
    expect(await movements(time, hold.reference)).toEqual(['authorization Succeed 6000 USD', 'void Succeed 6000 USD']);
  });
});

/** What the service does with a payment whose creation is repeated under its key. */
async function onRepeat(repeated_payment: Profile['repeated_payment']): Promise<void> {
  await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { repeated_payment } });
}
afterEach(() => onRepeat('by_version'));

/** A payment that the service has made under the key of a flow which is to be started. */
async function payAhead(reference: string, sum: { amount: number; currency: string }, tried = false): Promise<string> {
  const additional_details = { holdfast_workflow_id: paymentWorkflowId(reference) };
  const key = idempotencyKey(paymentWorkflowId(reference), 'createPayment', 1);
  // Past our own client, which knows its currencies.
  const data = await serviceOf({ sandboxUrl: SANDBOX_URL }).post('/payments', { ...sum, additional_details }, key);
  // Once money was tried on it even a service that updates changes it no more.
  if (tried) {
    const { paymentMethod } = await time.input();
    const other = { paymentMethod, reconciliationId: 'another' };
    await time.provider.createCharge(data.id, other, { idempotencyKey: randomUUID() });
  }
  return data.id;
}

describe.each(MONEY)('a %s whose payment the service answers', (type) => {
  test.each([
    ['in another currency', { amount: 6_000, currency: 'EUR' }, 'first_answer'],
    ['in a currency that we do not know', { amount: 6_000, currency: 'HRK' }, 'first_answer'],
    ['over another sum', { amount: 5_999, currency: 'USD' }, 'first_answer'],
    ['in another currency', { amount: 6_000, currency: 'EUR' }, 'updates'],
    ['over another sum', { amount: 5_999, currency: 'USD' }, 'updates'],
  ] as const)('%s (%j, %s) sends nothing on it, and asks a person', async (_what, sum, repeated) => {
    await onRepeat(repeated);
    const input = await inputOf(time, type);
    const paymentId = await payAhead(input.reference, sum, repeated === 'updates');
    const flow = await beginFlow(time, type, input);
    await time.passUntil(flow.startedAt + HOUR);
    expect(await flow.status()).toMatchObject({ waitingFor: 'operator', needsOperator: true, paymentId });
    await time.holdfast.settleManually(flow.reference, { ...OPERATOR, status: 'notExecuted' });
    expect(await flow.outcome()).toMatchObject({
      status: 'notExecuted',
      evidence: { knownBy: 'operator', attempts: 0 },
    });
    expect(time.requests.operations(paymentId, MOVES[type][1].slice(2))).toEqual([]);
    expect(await movements(time, input.reference)).toEqual([]);
  });
});

test('money that is held on a payment of another sum can not be followed: a person is asked to void it first', async () => {
  await onRepeat('first_answer');
  const input = await inputOf(time, 'authorizeAndCapture');
  await payAhead(input.reference, { amount: 5_999, currency: 'USD' });
  const flow = await beginFlow(time, 'authorizeAndCapture', input);
  await time.passUntil(flow.startedAt + HOUR);
  const say = async (status: 'succeeded' | 'declined') =>
    await time.holdfast.settleManually(flow.reference, { ...OPERATOR, status });
  await expect(say('succeeded')).rejects.toThrow('can not be followed; void it first');
  expect(await flow.status()).toMatchObject({ status: 'unknown', waitingFor: 'operator', needsOperator: true });
  await say('declined');
  expect(await flow.outcome()).toMatchObject({ status: 'declined', evidence: { knownBy: 'operator' } });
});

test('a payment that its repeated creation has updated is charged over what was asked for, once', async () => {
  await onRepeat('updates');
  const input = await inputOf(time, 'charge');
  const paymentId = await payAhead(input.reference, { amount: 5_999, currency: 'EUR' });
  const flow = await beginFlow(time, 'charge', input);
  expect(await flow.outcome()).toMatchObject({ status: 'succeeded', paymentId, amount: 6_000, currency: 'USD' });
  expect(await movements(time, input.reference)).toEqual(['charge Succeed 6000 USD']);
});

test('a charge whose first reply is lost was tried once inside its task, and goes on under the same key', async () => {
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'), [lostReply(CHARGES)]);
  expect(await flow.outcome()).toMatchObject({ status: 'succeeded', evidence: { attempts: 2, knownBy: 'reply' } });
  expect(await scheduledOf(time, flow.workflowId)).toEqual(['createCharge']);
  const posts = time.requests.chargePosts(flow.reference);
  expect(posts).toHaveLength(2);
  expect(new Set(posts.map(({ key }) => key)).size).toBe(1);
  expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
});

test('a local try that hangs is given up before its task could be lost with the answer', async () => {
  const hangs = { action: 'delay', method: 'POST', path: CHARGES, delay_ms: 60 * SECOND, times: 1 } as const;
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'), [hangs]);
  expect(await flow.outcome()).toMatchObject({ status: 'succeeded' });
  const [first = 0, second = 0] = time.requests.chargePosts(flow.reference).map(({ at }) => at);
  expect(second - first).toBeGreaterThanOrEqual(10 * SECOND);
  expect(second - first).toBeLessThan(15 * SECOND);
  expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
});

// The list above leaves out what moves no money.
test('every flow that moves money is here', () => {
  expect(FLOW_TYPES.filter((type: FlowType) => type !== 'analyseRisk')).toEqual(MONEY);
});
