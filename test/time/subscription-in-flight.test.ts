import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WorkflowUpdateStage } from '@temporalio/client';
import type { SubscriptionInput } from '../../src/contract/subscription.js';
import type { SubscriptionAnswer } from '../../src/contract/subscription-commands.js';
import { atFullCounts } from '../support/at-full-counts.js';
import { anotherCard, bills, inRome, later, monthly, plantOn, subscribe } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { HOUR, startVirtualTime, type VirtualTime } from '../support/virtual-time.js';

let time: VirtualTime;
beforeAll(async () => {
  time = await startVirtualTime({ billing: true });
});
afterAll(async () => {
  await time?.close();
});

const STOLEN = { status: 'Failed', category: 'payment_method_declined', subCategory: 'lost_stolen_card' } as const;

/** A subscription of two months whose first payment is under way until `ends` says how it ended. */
async function inFlight(overrides: Partial<SubscriptionInput> = {}) {
  const input = { ...(await monthly(time)), periods: 2, ...overrides };
  const { reference } = input;
  await plantOn(time, reference, '1.1', { status: 'Pending' });
  const flow = await subscribe(time, input);
  await time.passUntil(inRome(input.anchor) + 60_000);
  await until(
    () => time.sandbox.ledger(`${reference}.1.1`),
    (sent) => sent.length === 1,
  );
  const handle = time.client.workflow.getHandle(flow.workflowId);
  return {
    flow,
    input,
    /** Accepted once this answers; the answer may take as long as the payment. */
    send: async (name: string, request: object = {}): Promise<{ answer: Promise<SubscriptionAnswer> }> => {
      const options = { args: [request] as [object], waitForStage: WorkflowUpdateStage.ACCEPTED } as const;
      const update = await handle.startUpdate<SubscriptionAnswer, [object]>(name, options);
      const answer = update.result();
      answer.catch(() => undefined);
      return { answer };
    },
    ends: async (result: Parameters<VirtualTime['sandbox']['complete']>[1], hour = 13): Promise<void> => {
      const [pending] = await time.sandbox.ledger(`${reference}.1.1`);
      await time.sandbox.complete(pending?.transaction_id ?? '', result);
      // The next poll finds it.
      await time.passUntil(inRome(input.anchor) + (hour - 10) * HOUR);
    },
    tried: async () => (await bills(time, reference)).map((line) => line.split(' ').filter((_, at) => at % 3 === 0)),
  };
}

describe('while a payment is under way', () => {
  test('another card is taken, and tried as soon as the old one is declined for good', async () => {
    const { flow, input, ends, tried } = await inFlight();
    await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
    await ends(STOLEN);
    expect(await flow.status()).toMatchObject({ subscription: { billedPeriods: 1 } });
    expect(await flow.ended()).toMatchObject({ status: 'completed' });
    expect(await tried()).toEqual([
      ['1.1', 'Failed'],
      ['1.2', 'Succeed'],
      ['2.1', 'Succeed'],
    ]);
  });

  test('the next period waits, however due, and is billed once it is known', async () => {
    const { flow, input, ends, tried } = await inFlight({ interval: { every: 1, unit: 'day' } });
    await time.passUntil(inRome(later(input.anchor, 1)) + 2 * HOUR);
    expect(await tried()).toEqual([['1.1', 'Pending']]);
    await ends({ status: 'Succeed' }, 38);
    expect(await flow.ended()).toMatchObject({ billedPeriods: 2, missedPeriods: 0 });
    expect(await tried()).toEqual([
      ['1.1', 'Succeed'],
      ['2.1', 'Succeed'],
    ]);
  });

  test('cancel waits until it is known what the payment did, and answers everybody who asked for it', async () => {
    const { flow, send, ends, tried } = await inFlight();
    const cancels = [await send('cancel', { when: 'now' }), await send('cancel', { when: 'now', commandId: 'again' })];
    const { answer: late } = await send('pause');
    await expect(late).rejects.toMatchObject({ cause: { message: expect.stringContaining('ends as soon as') } });
    await ends({ status: 'Succeed' });
    for (const { answer } of cancels) expect(await answer).toMatchObject({ status: 'cancelled', billedPeriods: 1 });
    expect(await flow.ended()).toMatchObject({ lastBilled: { period: 1 } });
    expect(await tried()).toEqual([['1.1', 'Succeed']]);
  });

  test('a cancel of the flow itself waits as well', async () => {
    const { flow, ends } = await inFlight();
    await time.client.workflow.getHandle(flow.workflowId).cancel();
    await ends({ status: 'Succeed' });
    expect(await flow.ended()).toMatchObject({ status: 'cancelled', billedPeriods: 1 });
  });

  test('pause lets it end; what it took counts, and nothing follows', async () => {
    const { flow, input, ends, tried } = await inFlight();
    expect(await flow.command('pause')).toMatchObject({ status: 'paused' });
    await ends({ status: 'Succeed' });
    await time.passUntil(inRome(later(input.anchor, 40)));
    const { subscription, ...status } = await flow.status();
    expect(status).toMatchObject({ status: 'paused', waitingFor: 'command' });
    expect(subscription).toMatchObject({ billedPeriods: 1 });
    expect(subscription?.open).toBeUndefined();
    expect(await tried()).toEqual([['1.1', 'Succeed']]);
    await flow.command('cancel', { when: 'now' });
  });

  test('pause with drop gives the bill up once it is declined', async () => {
    const { flow, ends } = await inFlight();
    await flow.command('pause', { openPeriod: 'drop' });
    await ends(STOLEN);
    expect(await flow.status()).toMatchObject({ status: 'paused', subscription: { unpaidPeriods: 1 } });
    await flow.command('cancel', { when: 'now' });
  });

  test('changes of the plan are for the next period, and no command is held up', async () => {
    const { flow, ends, tried } = await inFlight();
    expect(await flow.command('changePlan', { amount: 100 })).toMatchObject({ amount: 100, open: { amount: 6_000 } });
    await expect(flow.command('billNow', { period: 1 })).rejects.toThrow();
    await expect(flow.command('resume')).rejects.toThrow();
    await ends({ status: 'Succeed' });
    expect(await flow.ended()).toMatchObject({ billedPeriods: 2, lastBilled: { amount: 100 } });
    expect(await tried()).toHaveLength(2);
  });

  // The server hands out what comes during a slow task only after eight seconds.
  atFullCounts(
    'a billNow that comes as the payment of another is classified leaves nobody without an answer',
    async () => {
      const { flow, input, send, ends } = await inFlight({ interval: { every: 1, unit: 'week' } });
      await plantOn(time, flow.reference, '1.2', { status: 'Pending' });
      await ends({ ...STOLEN, subCategory: 'insufficient_funds' });
      const { answer: first } = await send('billNow', { period: 1 });
      await flow.worksOn();
      await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
      const classifying = time.hold('judgeAttempt');
      const [pending] = await time.sandbox.ledger(`${flow.reference}.1.2`);
      await time.sandbox.complete(pending?.transaction_id ?? '', STOLEN);
      await time.holdfast.retryNow(`${flow.reference}.1.2`);
      await classifying.reached;
      const { answer: second } = await send('billNow', { period: 1 });
      classifying.release();
      await expect(second).rejects.toMatchObject({ cause: { message: expect.stringContaining('under way') } });
      expect(await first).toMatchObject({ result: { status: 'succeeded' } });
      expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 2 });
    },
    60_000,
  );

  test('pause with drop gives the bill up, also where resume comes before the payment ends', async () => {
    const { flow, ends, tried } = await inFlight();
    await flow.command('pause', { openPeriod: 'drop' });
    await flow.command('resume');
    await ends({ ...STOLEN, subCategory: 'insufficient_funds' });
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1, unpaidPeriods: 1 });
    expect(await tried()).toEqual([
      ['1.1', 'Failed'],
      ['2.1', 'Succeed'],
    ]);
  });

  test('pause answers who has asked for it, although another card is still to be tried', async () => {
    const { flow, input, send, ends } = await inFlight();
    await plantOn(time, flow.reference, '1.2', { status: 'Pending' });
    await ends({ ...STOLEN, subCategory: 'insufficient_funds' });
    const { answer } = await send('billNow', { period: 1 });
    await flow.worksOn();
    await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
    await flow.command('pause');
    const [pending] = await time.sandbox.ledger(`${flow.reference}.1.2`);
    await time.sandbox.complete(pending?.transaction_id ?? '', STOLEN);
    await time.holdfast.retryNow(`${flow.reference}.1.2`);
    expect(await answer).toMatchObject({ status: 'paused', result: { status: 'declined' } });
    await flow.command('resume');
    expect(await flow.ended()).toMatchObject({ billedPeriods: 2 });
  });
});
