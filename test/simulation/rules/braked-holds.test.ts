import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { FinalStepOutcome } from '../../../src/contract/outcome.js';
import { storedInSkippedTime } from '../../support/cards.js';
import { movements } from '../../support/payments.js';
import { resetTo } from '../../support/resets.js';
import { beginHeld, type VirtualFlow } from '../../support/virtual-flows.js';
import { beginOwing, BRAKED, braking } from './braking.js';
import { answers, beginFlow, DAY, failsWith, HOUR, inputOf, MINUTE, SECOND, sharedTime } from './context.js';

const time = sharedTime({ billing: true });
const { brake, release } = braking(time);

describe('a hold of a braked unit', () => {
  test.each(['capture', 'void'] as const)('ends by its deadline: %s', async (onDeadline) => {
    const hold = await beginHeld(time, { onDeadline });
    await brake({ captures: true, refunds: true });
    expect(await hold.outcome()).toMatchObject({ status: onDeadline === 'capture' ? 'captured' : 'voided' });
  });

  test('is voided, and captured unless that is named', async () => {
    const [voided, captured] = [await beginHeld(time), await beginHeld(time)];
    await brake();
    expect(await voided.ask('void')).toMatchObject({ status: 'succeeded' });
    expect(await captured.ask('capture')).toMatchObject({ status: 'succeeded' });
  });

  test('stays held where captures are named, and is captured after the release', async () => {
    const hold = await beginHeld(time);
    await brake({ captures: true });
    expect(await hold.ask('capture', { commandId: 'one' })).toMatchObject({ status: 'notExecuted', reason: BRAKED });
    expect(await hold.status()).toMatchObject({ status: 'authorized' });
    await release();
    expect(await hold.ask('capture', { commandId: 'two' })).toMatchObject({ status: 'succeeded' });
    expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 6_000 });
  });
});

describe('a hold that is to be captured at once', () => {
  const begin = async (more: Readonly<Record<string, unknown>> = {}) => {
    return await beginFlow(time, 'authorizeAndCapture', await inputOf(time, 'authorizeAndCapture', more));
  };

  test('is captured after the release', async () => {
    const held = time.hold('createCapture');
    const flow = await begin();
    await held.reached;
    await brake({ captures: true });
    held.release();
    await time.passUntil(flow.startedAt + HOUR);
    expect(await flow.status()).toMatchObject({ status: 'authorized' });
    await release();
    await time.passUntil(flow.startedAt + 2 * HOUR);
    expect(await flow.status()).toMatchObject({ status: 'captured' });
    expect(time.requests.operations((await flow.status()).paymentId ?? '', 'captures')).toHaveLength(1);
  });

  test('is left to a person who gives it a command meanwhile, and to its deadline', async () => {
    const held = time.hold('createCapture');
    const [flow, late] = [await begin(), await begin({ onDeadline: 'void', captureDeadline: '1 day' })];
    await held.reached;
    await brake({ captures: true });
    held.release();
    await time.passUntil(flow.startedAt + HOUR);
    expect(await flow.ask('void')).toMatchObject({ status: 'succeeded' });
    expect(await late.outcome()).toMatchObject({ status: 'voided', reason: 'deadline' });
  });
});

describe('a hold is not given up for a new one that the brake would stop', () => {
  const HELD = 'authorization Succeed 6000 USD';
  const RELEASED = 'void Succeed 6000 USD';
  const TAKEN = 'capture Succeed 6000 USD';
  const reauthorizable = async (more: object = {}) => {
    const cardOnFile = { entryMode: 'cof_cardholder_initiated_transaction' } as const;
    return await beginHeld(time, { ...(await storedInSkippedTime(time)), cardOnFile, ...more });
  };

  test('by a command, which is refused, and the next command is taken', async () => {
    const hold = await reauthorizable();
    await brake();
    await expect(hold.ask('reauthorize', { commandId: 'longer' })).rejects.toMatchObject(
      failsWith('StateConflict', 'not reauthorized: Not sent: business unit "default" is braked'),
    );
    expect(await movements(time, hold.reference)).toEqual([HELD]);
    expect(await hold.ask('void')).toMatchObject({ status: 'succeeded' });
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'command' });
  });

  test('by commands before its deadline, which count as no try to end it', async () => {
    const hold = await reauthorizable({ captureDeadline: '5 days' });
    await brake();
    for (const commandId of ['a', 'b', 'c', 'd'])
      await expect(hold.ask('reauthorize', { commandId })).rejects.toMatchObject(
        failsWith('StateConflict', 'not reauthor'),
      );
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: false });
    await release();
    const before = await time.now();
    await hold.ask('reauthorize', { commandId: 'longer' });
    expect((await time.now()) - before).toBeLessThan(10 * 60_000);
    expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD]);
  });

  test('at its deadline, which is tried again after the release', async () => {
    const hold = await reauthorizable({ onDeadline: 'reauthorize', captureDeadline: '2 days' });
    await brake();
    await time.passUntil(hold.startedAt + 2.1 * DAY);
    expect(await movements(time, hold.reference)).toEqual([HELD]);
    await release();
    await time.passUntil(hold.startedAt + 3 * DAY);
    expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD]);
  });

  describe('at a deadline so near its end that the hold lapses before the next try', () => {
    const END = 7 * DAY;
    // What releases it is later than it says.
    beforeEach(async () => await time.sandbox.settings({ holdMs: 8 * DAY }));
    afterEach(async () => await time.sandbox.settings({ holdMs: END }));
    const eventsOf = async ({ workflowId }: VirtualFlow<unknown>) =>
      (await time.client.workflow.getHandle(workflowId).fetchHistory()).events ?? [];
    const braked = async () => {
      const hold = await reauthorizable({ onDeadline: 'reauthorize', captureDeadline: '167 hours' });
      await brake();
      return hold;
    };

    async function expectCaptured(hold: VirtualFlow<unknown>, answer: Promise<FinalStepOutcome>) {
      await time.passUntil(hold.startedAt + END + 10 * MINUTE);
      await release();
      await time.passUntil(hold.startedAt + END + HOUR);
      expect(await answer).toMatchObject({ status: 'succeeded' });
      expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD, TAKEN]);
      // One that never ends fails.
      const failed = (await eventsOf(hold)).filter(
        ({ workflowTaskFailedEventAttributes: how }) => how && !how.newRunId,
      );
      expect(failed).toEqual([]);
    }

    test('a capture that has come while it was read waits for the next one', async () => {
      const hold = await braked();
      await time.passUntil(hold.startedAt + END - SECOND);
      const looking = time.hold('getPayment');
      await time.holdfast.retryNow({ workflowId: hold.workflowId });
      await looking.reached;
      const { answer } = await hold.command('capture', { commandId: 'one' });
      await time.passUntil(hold.startedAt + END + SECOND);
      looking.release();
      await expectCaptured(hold, answer);
    });

    test('so does one that a run made by a reset is given once it has lapsed', async () => {
      const hold = await braked();
      await time.passUntil(hold.startedAt + END - 10 * MINUTE);
      const tasks = (await eventsOf(hold)).filter((event) => event.workflowTaskCompletedEventAttributes);
      await resetTo(time.client, hold, tasks.at(-1)?.eventId);
      await time.passUntil(hold.startedAt + END + 5 * MINUTE);
      const { answer } = await hold.command('capture', { commandId: 'one' });
      await expectCaptured(hold, answer);
    });
  });

  test('and where the brake comes when it is gone, the flow ends as it has ended', async () => {
    const hold = await reauthorizable({ captureDeadline: '3 days' });
    const next = time.hold('createPayment');
    const asked = hold.command('reauthorize', { commandId: 'longer' });
    await next.reached;
    await brake();
    next.release();
    await asked;
    expect(await hold.outcome()).toMatchObject({
      status: 'voided',
      reason: expect.stringMatching(/not reauthorized: .*is braked/),
    });
  });
});

test('a refund that a flow owes of itself is not given up because its unit is braked for days', async () => {
  const { flow, canStore } = await beginOwing(time, brake);
  expect(await flow.status()).toMatchObject({ waitingFor: 'brake', needsOperator: false });
  await release();
  expect(await flow.outcome()).toMatchObject({ status: 'consentedNotStored', money: { status: 'refunded' } });
  await canStore();
  expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD', 'refund Succeed 6000 USD']);
});

test('a refund of which nothing was sent is not called lost because a brake had stopped the charge before', async () => {
  const refused = await time.sandbox.addFault(answers(400, 'POST', '*/payment-methods/*'));
  const unavailable = { ...answers(503, 'POST', '*/charges'), times: 1_000 };
  const input = await inputOf(time, 'storeCard', { onNotStored: 'undo' });
  const flow = await beginFlow(time, 'storeCard', input, [unavailable]);
  await time.passUntil(flow.startedAt + SECOND);
  await brake();
  await time.passUntil(flow.startedAt + HOUR);
  expect(await time.holdfast.explain(flow.reference)).toContain('the answer to the charge was lost');
  for (const { id } of await time.sandbox.faults()) if (id !== refused.id) await time.sandbox.removeFault(id);
  const storing = time.hold('storePaymentMethod');
  await release();
  await storing.reached;
  await brake({ refunds: true });
  storing.release();
  await time.passUntil(flow.startedAt + DAY);
  expect(await flow.status()).toMatchObject({ waitingFor: 'brake', operation: 'refund' });
  const explained = await time.holdfast.explain(flow.reference);
  expect(explained).toContain('nothing of it was sent: its business unit is braked');
  expect(explained).not.toContain('was lost');
  await release();
  expect(await flow.outcome()).toMatchObject({ money: { status: 'refunded' } });
  await time.sandbox.removeFault(refused.id);
});
