import { beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { movements } from '../../support/payments.js';
import { until } from '../../support/until.js';
import { beginActions, beginHeld, beginHold, ledgerRows, type VirtualFlow } from '../../support/virtual-flows.js';
import { beginFlow, failsWith, HOUR, inputOf, OPERATOR, sharedTime } from './context.js';

const time = sharedTime();
const sums = async (are: 'ignored' | 'strict'): Promise<void> =>
  void (await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { sums: are } }));

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
  beforeAll(() => sums('ignored'));

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

describe('an authorization that a person has settled over another sum than was asked for', () => {
  beforeAll(() => sums('strict'));

  const HELD = 'authorization Succeed 20000 USD';

  /** 200.00 USD are asked for, and the provider approves another sum: only the authorization shows that. */
  async function approved(amount: number, input: object = {}) {
    const { sandbox } = time.simulation.world;
    sandbox.through = async (request, serve) => {
      const reply = await serve(request);
      if (!request.path.includes('/authorizations')) return reply;
      return { ...reply, body: Buffer.from(String(reply.body).replace('"amount":20000', `"amount":${amount}`)) };
    };
    const hold = await beginHold(time, { amount: 20_000, ...input });
    await pass(HOUR);
    sandbox.through = (request, serve) => serve(request);
    const say = async (what: object): Promise<unknown> =>
      await time.holdfast.settleManually(hold.reference, { ...OPERATOR, status: 'succeeded', ...what } as never);
    await expect(say({})).rejects.toThrow('amount: say what has moved: the service shows');
    expect(await say({ amount })).toMatchObject({ status: 'succeeded', amount });
    return hold;
  }

  test('is a hold of that sum: no more is captured, and all of it is by a capture without an amount', async () => {
    const hold = await approved(15_000);
    const status = await until(
      () => hold.status(),
      (now) => now.status === 'authorized',
    );
    expect(status).toMatchObject({ operationAmount: 15_000, needsOperator: false });
    const more = hold.ask('capture', { commandId: 'more', amount: 15_001 });
    await expect(more).rejects.toMatchObject(failsWith('InvalidInput', '150.01 USD is more than the 150.00 USD auth'));
    expect(await hold.ask('capture', { commandId: 'all' })).toMatchObject({ status: 'succeeded', amount: 15_000 });
    const outcome = await hold.outcome();
    expect(outcome).toMatchObject({ status: 'captured', amount: 15_000, capturedAmount: 15_000 });
    expect(outcome).not.toHaveProperty('released');
    expect(await movements(time, hold.reference)).toEqual([HELD, 'capture Succeed 15000 USD']);
  });

  test.each([
    ['by a command', {}],
    ['at once', { captureMode: 'auto' }],
    ['at the deadline', { onDeadline: 'capture', captureDeadline: '1 day' }],
  ] as const)('over more has no more captured %s than was asked for', async (how, input) => {
    const hold = await approved(25_000, input);
    if (how === 'by a command') {
      const more = hold.ask('capture', { commandId: 'more', amount: 20_001 });
      await expect(more).rejects.toMatchObject(failsWith('InvalidInput', 'more than the 200.00 USD asked for'));
      await hold.ask('capture', { commandId: 'all' });
    }
    expect(await hold.outcome()).toMatchObject({
      status: 'captured',
      amount: 25_000,
      capturedAmount: 20_000,
      released: { amount: 5_000 },
    });
    expect(await movements(time, hold.reference)).toEqual([HELD, 'capture Succeed 20000 USD']);
  });

  test('is voided as that sum', async () => {
    const hold = await approved(15_000);
    expect(await hold.ask('void', { commandId: 'off' })).toMatchObject({ status: 'succeeded', amount: 15_000 });
    expect(await hold.outcome()).toMatchObject({ status: 'voided', amount: 15_000 });
  });
});
