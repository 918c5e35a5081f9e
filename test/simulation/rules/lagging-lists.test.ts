import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { beginActions, beginHeld, ledgerRows } from '../../support/virtual-flows.js';
import type { AppReply } from '../world/app-call.js';
import { failsWith, HOUR, sharedTime } from './context.js';

const time = sharedTime();

const listsLag = async (list_lag_ms: number) =>
  void (await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { list_lag_ms } }));

/** A payment that shows no status says nothing about its lists either. */
function withoutStatus(reply: AppReply): AppReply {
  const { status: _status, ...payment } = JSON.parse(reply.body.toString()) as Record<string, unknown>;
  const body = Buffer.from(JSON.stringify(payment));
  return { ...reply, headers: { ...reply.headers, 'content-length': String(body.length) }, body };
}

beforeEach(() => {
  const { sandbox } = time.simulation.world;
  sandbox.through = async (request, serve) => {
    const reply = await serve(request);
    const isPayment = request.method === 'GET' && /\/payments\/[^/?]+(\?|$)/.test(request.path);
    return isPayment && reply.status === 200 ? withoutStatus(reply) : reply;
  };
});
afterEach(async () => {
  time.simulation.world.sandbox.through = (request, serve) => serve(request);
  await listsLag(0);
});

const RELEASE = { commandId: 'released', who: 'Ada', why: 'ordered twice' };

describe('what the flow of a payment has captured at its deadline, and no list shows yet', () => {
  test.each(['names', 'does not name'])('counts as captured where the caller %s that flow', async (named) => {
    const hold = await beginHeld(time, { captureDeadline: '1 day', onDeadline: 'capture' });
    const { paymentId = '' } = await hold.status();
    await listsLag(HOUR);
    expect(await hold.outcome()).toMatchObject({ status: 'captured' });

    const paymentReference = named === 'names' ? { paymentReference: hold.reference } : {};
    const actions = await beginActions(time, { paymentId, currency: 'USD', ...paymentReference });
    const refused = (why: string) => failsWith('StateConflict', why);
    await expect(actions.ask('void', RELEASE)).rejects.toMatchObject(refused('60.00 USD may have been captured'));
    await expect(actions.ask('capture', { commandId: 'again' })).rejects.toMatchObject(refused('nothing is left'));
    const payment = { payment: paymentId, currency: 'USD' };
    const refund = async () => await time.holdfast.refund({ payment, commandId: 'soon' });
    await expect(refund()).rejects.toMatchObject({
      type: 'StateConflict',
      message: expect.stringContaining('and nothing confirms it'),
    });
    await listsLag(0);
    // The same refund is sent as soon as a list shows what it gives back.
    expect(await refund()).toMatchObject({ status: 'succeeded', amount: 6_000 });
    expect(await refund()).toMatchObject({ status: 'succeeded', amount: 6_000 });
    expect(await ledgerRows(time, paymentId)).toEqual([
      'authorization Succeed 6000 USD',
      'capture Succeed 6000 USD',
      'refund Succeed 6000 USD',
    ]);
  });
});
