import type { Client } from '@temporalio/client';
import { describe, expect, test, vi } from 'vitest';
import type { BrakesRequest } from '../../../src/cli/brake-arguments.js';
import { runBrakes } from '../../../src/cli/brakes.js';
import type { Engine } from '../../../src/cli/engine.js';
import { atFullCounts } from '../../support/at-full-counts.js';
import { loseTask } from '../../support/lost-task.js';
import { movements } from '../../support/payments.js';
import { resetToFirstTask } from '../../support/resets.js';
import { beginActions } from '../../support/virtual-flows.js';
import {
  answers,
  beginFlow,
  DAY,
  FLOW_TYPES,
  HOUR,
  inputOf,
  keysOf,
  lostReply,
  MINUTE,
  OPERATOR,
  SECOND,
  sharedTime,
} from './context.js';
import { ADA, BRAKED, braking } from './braking.js';
import { beginWeekly } from './weekly.js';

const time = sharedTime({ billing: true });
const { brake, release } = braking(time);

describe('a brake', () => {
  test.each(FLOW_TYPES)('ends what comes new at once, with nothing sent: %s', async (type) => {
    await brake();
    const flow = await beginFlow(time, type, await inputOf(time, type));
    expect(await flow.outcome()).toMatchObject({ status: 'notExecuted', braked: true, reason: BRAKED });
    expect(await time.now()).toBeLessThan(flow.startedAt + SECOND);
    expect(keysOf(time, flow.reference)).not.toContain('createPayment:1');
    expect(await time.holdfast.explain({ workflowId: flow.workflowId })).toEqual(BRAKED);
  });

  test('of another business unit stops nothing', async () => {
    await brake({ businessUnit: 'another' });
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded' });
  });

  test('between payment and charge ends the flow with nothing charged', async () => {
    const held = time.hold('createCharge');
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
    await held.reached;
    await brake();
    held.release();
    expect(await flow.outcome()).toMatchObject({
      status: 'notExecuted',
      braked: true,
      paymentId: expect.any(String),
      evidence: { attempts: 0, proof: 'nothing of it was ever sent' },
    });
    expect(keysOf(time, flow.reference)).toEqual(['createPayment:1']);
  });

  test('after a lost reply leaves the flow reading: it finds what that has charged', async () => {
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'), [lostReply('*/charges', 100)]);
    await time.passUntil(flow.startedAt + SECOND);
    await brake();
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
  });

  const unavailable = { ...answers(503, 'POST', '*/charges'), times: 1_000 };

  test('after a request that may have left says so, sends nothing, and lets it go on after the release', async () => {
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'), [unavailable]);
    await time.passUntil(flow.startedAt + SECOND);
    await brake();
    await time.passUntil(flow.startedAt + 10 * MINUTE);
    await time.sandbox.clearFaults();
    const sent = time.requests.posts(flow.reference).length;
    await time.passUntil(flow.startedAt + 3 * HOUR);
    expect(await flow.status()).toMatchObject({ status: 'unknown', waitingFor: 'brake' });
    expect(await time.holdfast.explain(flow.reference)).toEqual(BRAKED);
    expect(time.requests.posts(flow.reference)).toHaveLength(sent);
    await release();
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await time.now()).toBeLessThan(flow.startedAt + 3 * HOUR + 10 * MINUTE);
    expect(new Set(keysOf(time, flow.reference))).toEqual(new Set(['createPayment:1', 'createCharge:1']));
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
  });

  atFullCounts('lets windows run on: then only reads tell', async () => {
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'), [unavailable]);
    await time.passUntil(flow.startedAt + SECOND);
    await brake();
    await time.passUntil(flow.startedAt + 20 * HOUR + MINUTE);
    await release();
    const outcome = await flow.outcome();
    expect(outcome).toMatchObject({ status: 'notExecuted', evidence: { knownBy: 'poll' } });
    expect(outcome).not.toHaveProperty('braked');
    expect(await time.now()).toBeLessThan(flow.startedAt + DAY);
    await time.sandbox.clearFaults();
    expect(await movements(time, flow.reference)).toEqual([]);
  });

  test('after a task that was lost only finds the payment, on which it looks what that task has charged', async () => {
    await brake();
    await time.stopWorker();
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
    await loseTask(time.client);
    await time.startWorker();
    await time.passUntil(flow.startedAt + 10 * MINUTE);
    expect(keysOf(time, flow.reference)).toEqual(['createPayment:1']);
    expect(await flow.status()).toMatchObject({ status: 'unknown', waitingFor: 'brake' });
    await release();
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
  });

  test.each([
    ['where the charge is tried in the first task', 0],
    ['where the payment took too long for that', 4 * SECOND],
  ])('between payment and charge says nothing of a charge that a lost task may have sent, %s', async (_where, ms) => {
    const slow = { action: 'delay', method: 'POST', path: '/payments', delay_ms: ms, times: 1 } as const;
    await time.stopWorker();
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'), [slow]);
    await loseTask(time.client);
    const held = time.hold('createCharge');
    await time.startWorker();
    await held.reached;
    await brake();
    held.release();
    await time.passUntil((await time.now()) + 5 * MINUTE);
    expect(await flow.status()).toMatchObject({ status: 'unknown', waitingFor: 'brake' });
    await release();
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
  });

  test('changes nothing of what a run before a reset has done', async () => {
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
    const before = await flow.outcome();
    await brake();
    await resetToFirstTask(time.client, flow.workflowId);
    const again = await time.client.workflow.getHandle(flow.workflowId).result();
    expect(again).toMatchObject({ status: 'succeeded', transactionId: before.transactionId });
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
  });

  test('holds for a worker that starts later', async () => {
    await brake();
    await time.stopWorker();
    await time.startWorker();
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
    expect(await flow.outcome()).toMatchObject({ status: 'notExecuted', braked: true });
  });
});

test('a refund is stopped only where refunds are named', async () => {
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  const { paymentId = '' } = await flow.outcome();
  const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: flow.reference });
  await brake({ refunds: true });
  expect(await actions.ask('refund', { commandId: 'one' })).toMatchObject({ status: 'notExecuted', reason: BRAKED });
  expect(time.requests.operations(paymentId, 'refunds')).toEqual([]);
  await brake();
  expect(await actions.ask('refund', { commandId: 'two' })).toMatchObject({ status: 'succeeded' });
  expect(time.requests.operations(paymentId, 'refunds')).toHaveLength(1);
});

describe('a bill of a braked unit', () => {
  test('waits, is not counted against the card, and is billed after the release', async () => {
    const { flow, reach, tried } = await beginWeekly(time, { periods: 2 });
    await brake();
    await reach(0, 16);
    expect(await flow.status()).toMatchObject({
      status: 'pastDue',
      waitingFor: 'brake',
      needsOperator: false,
      subscription: { open: { period: 1, declines: 0 }, unpaidPeriods: 0 },
    });
    expect(await flow.explain()).toEqual(BRAKED);
    expect(await tried()).toEqual([]);
    await release();
    await reach(0, 19);
    expect(await flow.status()).toMatchObject({ status: 'active', subscription: { billedPeriods: 1 } });
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 2, unpaidPeriods: 0 });
  });

  test('that a person has risked is not tried by itself after the release: the payment in doubt may turn out to be paid', async () => {
    const { flow, reach, tried } = await beginWeekly(
      time,
      { periods: 1 },
      { '1.1': { category: 'provider_network_error' } },
    );
    await reach(0, 13);
    const doubted = await flow.explain();
    await brake();
    for (const commandId of ['one', 'two']) {
      const risked = { commandId, period: 1, confirmRisk: true as const, ...OPERATOR };
      expect((await flow.command('billNow', risked)).result).toMatchObject({ status: 'notExecuted', brakedBy: BRAKED });
    }
    await release();
    await reach(0, 20);
    expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'operator', needsOperator: true });
    expect(await flow.explain()).toBe(doubted);
    expect(await tried()).toEqual(['1.1 day 0 Failed 6000 EUR']);
    await flow.command('settleManually', { ...OPERATOR, status: 'succeeded' });
    const { billedPeriods, lastBilled } = await flow.ended();
    expect([billedPeriods, lastBilled?.paymentReference]).toEqual([1, `${flow.reference}.1.1`]);
    expect(await tried()).toHaveLength(1);
  });

  test.each([
    ['billAll', 3, 0],
    [undefined, 2, 1],
  ] as const)('beyond its period is billed as missed periods are: %s', async (missedPeriods, billedPeriods, unpaid) => {
    const policy = missedPeriods === undefined ? {} : { missedPeriods };
    const { flow, reach } = await beginWeekly(time, { periods: 3, interval: { every: 1, unit: 'day' }, ...policy });
    await brake();
    await reach(1);
    await release();
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods, unpaidPeriods: unpaid });
  });
});

test('the last brake and the last release count, and all changes are kept', async () => {
  expect(await brake()).toMatchObject({ braked: [{ businessUnit: 'default', ...ADA }] });
  const again = await brake({ who: 'Eve', captures: true });
  expect(again).toMatchObject({ before: ADA, braked: [{ who: 'Eve', captures: true }] });
  expect(again.braked[0]?.since).toBe(again.before?.since);
  await time.client.workflow.getHandle('brakes').terminate('by mistake');
  expect((await time.holdfast.brakes.list()).braked).toEqual(again.braked);
  expect(await brake({ businessUnit: 'another' })).toMatchObject({
    braked: [{ businessUnit: 'default', who: 'Eve' }, { businessUnit: 'another' }],
  });
  expect(await release()).toMatchObject({ before: { who: 'Eve' }, braked: [{ businessUnit: 'another' }] });
  expect(await release()).not.toHaveProperty('before');
  expect((await time.holdfast.brakes.list()).changes.slice(-4)).toMatchObject([
    { did: 'brake', businessUnit: 'default', who: 'Ada' },
    { did: 'brake', businessUnit: 'default', who: 'Eve', captures: true },
    { did: 'brake', businessUnit: 'another' },
    { did: 'release', businessUnit: 'default', who: 'Bob', why: 'mended' },
  ]);
  expect(await time.holdfast.explain({ workflowId: 'brakes' })).toContain('business unit "another" is braked');
});

test('every fault of a brake is said, and nothing is braked', async () => {
  await expect(time.holdfast.brakes.brake({ businessUnit: 'a b', who: '', why: '' })).rejects.toMatchObject({
    type: 'InvalidInput',
    faults: [expect.stringContaining('businessUnit'), expect.stringContaining('who'), expect.stringContaining('why')],
  });
  expect((await time.holdfast.brakes.list()).braked).toEqual([]);
});

async function ran(client: Client, request: BrakesRequest) {
  let out = '';
  let err = '';
  const print = (text: string) => void (out += text);
  const printError = (text: string) => void (err += text);
  const code = await runBrakes({ client } as Engine, request, { print, printError });
  return { code, out, err };
}

const asked = {
  command: 'brake',
  json: false,
  request: { businessUnit: 'default', ...ADA, captures: true },
} as const;

test('the command has braked although visibility could not be asked for its hint', async () => {
  const counting = vi.spyOn(time.client.workflow, 'count').mockRejectedValue(new Error('RESOURCE_EXHAUSTED'));
  const { code, out, err } = await ran(time.client, asked);
  counting.mockRestore();
  expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^Business unit "default" is braked since /) });
  expect(err).toContain('flows of business unit "default" (RESOURCE_EXHAUSTED): see yourself that this is its name.');
  expect((await time.holdfast.brakes.list()).braked).toMatchObject([{ businessUnit: 'default', captures: true }]);
});

test('the command says what it stops, who has braked it before, and which others are braked', async () => {
  const run = async (request: BrakesRequest) => await ran(time.client, request);
  await brake({ businessUnit: 'another', who: 'Eve' });
  expect(await run(asked)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^Business unit .*new payments, captures\.\n$/),
  });
  const again = await run(asked);
  expect(again.err).toMatch(/within 5 s\.\nUntil now .* by Ada: .*\nAlso business unit "another" .* by Eve: /);
  const mistyped = await run({ ...asked, request: { ...asked.request, businessUnit: 'defualt' } });
  expect(mistyped.err).toContain('No flow of business unit "defualt" is known');
});
