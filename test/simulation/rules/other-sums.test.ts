import { beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { beginActions, beginHeld, ledgerRows, type VirtualFlow } from '../../support/virtual-flows.js';
import { beginFlow, failsWith, HOUR, inputOf, OPERATOR, sharedTime } from './context.js';

const time = sharedTime();
beforeAll(async () => {
  await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { sums: 'ignored' } });
});

const pass = async (ms: number): Promise<void> => time.passUntil((await time.now()) + ms);

/** The service has moved all instead of a part: what a person says of it. */
async function said(flow: VirtualFlow<unknown>, moved: number) {
  const { workflowId } = flow;
  await pass(HOUR);
  expect(await flow.status()).toMatchObject({
    status: 'unknown',
    needsOperator: true,
    operatorReason: expect.stringMatching(/^AmountMismatch: .* takes the amount that has moved$/),
  });
  const say = (what: object) =>
    time.holdfast.settleManually({ workflowId }, { ...OPERATOR, status: 'succeeded', ...what });
  await expect(say({})).rejects.toThrow('amount: say what has moved: the service shows');
  await expect(say({ amount: 6_001 })).rejects.toThrow('amount: 6001 minor units are more than either');
  return await say({ amount: moved });
}

describe('where the service has moved another sum than was asked for', () => {
  test('a capture is told as what was taken: nothing of it is called released, and all of it can be refunded', async () => {
    const hold = await beginHeld(time);
    const { answer } = await hold.command('capture', { commandId: 'part', amount: 5_000 });
    await said(hold, 6_000);
    expect(await answer).toMatchObject({ status: 'succeeded', amount: 6_000 });
    const { released, ...outcome } = (await hold.outcome()) as { released?: object; paymentId?: string };
    expect(outcome).toMatchObject({ status: 'captured', capturedAmount: 6_000 });
    expect(released).toBeUndefined();
    const { paymentId = '' } = outcome;
    const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: hold.reference });
    const back = await actions.command('refund', { commandId: 'back' });
    await pass(HOUR);
    expect(await back.answer).toMatchObject({ status: 'succeeded', amount: 6_000 });
  });

  test('a refund counts as what was given back: no second one is sent beside it', async () => {
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
    const { paymentId = '' } = await flow.outcome();
    const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: flow.reference });
    const { answer } = await actions.command('refund', { commandId: 'one', amount: 500 });
    await said(actions, 6_000);
    expect(await answer).toMatchObject({ status: 'succeeded', amount: 6_000 });
    const two = await actions.command('refund', { commandId: 'two', amount: 500 });
    const refused = expect(two.answer).rejects.toMatchObject(failsWith('StateConflict', 'nothing is left to refund'));
    await pass(HOUR);
    await refused;
    expect(await ledgerRows(time, paymentId)).toEqual(['charge Succeed 6000 USD', 'refund Succeed 6000 USD']);
  });
});
