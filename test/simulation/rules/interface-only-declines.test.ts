import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { movements } from '../../support/payments.js';
import { beginActions, beginHeld, ledgerRows } from '../../support/virtual-flows.js';
import type { SimulatedWorker } from '../worker/worker.js';
import { answers, beginFlow, DAY, failsWith, inputOf, MINUTE, OPERATOR, SECOND, sharedTime } from './context.js';
import { beginWeekly } from './weekly.js';

const time = sharedTime({ billing: true });
const SETTING = JSON.stringify({ default: { ...DEFAULT_UNIT, reads: 'interface' } });
const FAILED = { action: 'result', status: 'Failed', category: 'provider_error' } as const;
const UNCONFIRMED = { status: 'declined', category: 'provider_error', confirmed: false, retryable: 'nobody' };

let worker: SimulatedWorker | undefined;
beforeAll(async () => {
  await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { offers: 'interface' } });
});
beforeEach(async () => {
  await time.stopWorker();
  worker = time.simulation.startWorker({ env: { HOLDFAST_BUSINESS_UNITS: SETTING } });
});
afterEach(async () => {
  time.simulation.world.sandbox.through = (request, serve) => serve(request);
  for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
  await worker?.stop();
  await time.startWorker();
});

/** From now on the reply to the first POST to `path` calls what was done failed. */
function misreports(path: string): void {
  const { sandbox } = time.simulation.world;
  let told = false;
  sandbox.through = async (request, serve) => {
    const reply = await serve(request);
    if (told || request.method !== 'POST' || !request.path.endsWith(path)) return reply;
    told = true;
    const failed = '"status":"Failed","category":"provider_error"';
    return { ...reply, body: Buffer.from(String(reply.body).replaceAll('"status":"Succeed"', failed)) };
  };
}

async function charged() {
  const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  const { paymentId = '' } = await flow.outcome();
  const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: flow.reference });
  return { paymentId, actions };
}

describe('a reply that says that the provider has failed, of what the service offers no read', () => {
  test('leaves a refund unconfirmed once its repeat has said the same, and no second one is sent', async () => {
    const { paymentId, actions } = await charged();
    await time.sandbox.addFault({ ...FAILED, path: `/payments/${paymentId}/refunds` });
    const { answer } = await actions.command('refund', { commandId: 'one' });
    await time.passUntil((await time.now()) + MINUTE);
    expect(await answer).toMatchObject(UNCONFIRMED);
    const keys = time.requests.operations(paymentId, 'refunds').map(({ key }) => key);
    expect(keys).toEqual([keys[0], keys[0]]);
    await expect(actions.ask('refund', { commandId: 'two' })).rejects.toMatchObject(
      failsWith('StateConflict', 'nothing is left to refund'),
    );
  });

  test('is not believed against what its repeat under the same key says', async () => {
    const { paymentId, actions } = await charged();
    misreports('/refunds');
    const { answer } = await actions.command('refund', { commandId: 'one' });
    await time.passUntil((await time.now()) + MINUTE);
    expect(await answer).toMatchObject({ status: 'succeeded', amount: 6_000 });
    expect(await ledgerRows(time, paymentId)).toEqual(['charge Succeed 6000 USD', 'refund Succeed 6000 USD']);
  });

  test('leaves a refund unconfirmed whose repeat is refused, which is not believed', async () => {
    const { paymentId, actions } = await charged();
    const path = `/payments/${paymentId}/refunds`;
    await time.sandbox.addFault({ ...FAILED, path });
    const { answer } = await actions.command('refund', { commandId: 'one' });
    await time.passUntil((await time.now()) + 2 * SECOND);
    await time.sandbox.addFault(answers(400, 'POST', path));
    await time.passUntil((await time.now()) + MINUTE);
    expect(await answer).toMatchObject(UNCONFIRMED);
    expect(time.requests.operations(paymentId, 'refunds')).toHaveLength(2);
  });

  /** A hold whose capture nobody has confirmed to have failed, until a person says what has become of it. */
  async function doubted(until: number) {
    const hold = await beginHeld(time, { captureDeadline: '1 day', onDeadline: 'capture' });
    const { paymentId = '' } = await hold.status();
    await time.sandbox.addFault({ ...FAILED, path: `/payments/${paymentId}/captures`, times: 1 });
    const { answer } = await hold.command('capture', { commandId: 'one' });
    await time.passUntil((await time.now()) + MINUTE);
    const declined = await answer;
    expect(declined).toMatchObject(UNCONFIRMED);
    await expect(hold.ask('capture', { commandId: 'two' })).rejects.toMatchObject(failsWith('StateConflict'));
    await time.passUntil(hold.startedAt + until);
    const { operatorReason, ...shown } = await hold.status();
    expect(shown).toMatchObject({ status: 'authorized', needsOperator: true });
    expect(operatorReason).toContain(`capture ${declined.transactionId} failed without confirmation`);
    expect(time.requests.operations(paymentId, 'captures')).toHaveLength(2);
    expect(await movements(time, hold.reference)).toEqual([
      'authorization Succeed 6000 USD',
      'capture Failed 6000 USD',
    ]);
    const say = async (what: object) =>
      await time.holdfast.settleManually(hold.reference, { ...OPERATOR, ...what } as never);
    return { hold, say };
  }

  test('bars any further capture until a person says that nothing was taken', async () => {
    const { hold, say } = await doubted(2 * DAY);
    await say({ status: 'notExecuted' });
    expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 6_000 });
  });

  test('ends a hold as captured where a person says so, also after its end', async () => {
    const { hold, say } = await doubted(20 * DAY);
    await say({ status: 'succeeded', transactionId: 'seen', amount: 6_000 });
    expect(await hold.outcome()).toMatchObject({ status: 'captured', transactionId: 'seen', capturedAmount: 6_000 });
  });

  test('leaves a refund of a bill unconfirmed in the answer of its subscription', async () => {
    const { flow, reach } = await beginWeekly(time, { periods: 2 });
    await reach(1);
    const [bill] = await time.sandbox.ledger(`${flow.reference}.1.1`);
    await time.sandbox.addFault({ ...FAILED, path: `/payments/${bill?.payment_id}/refunds` });
    const refund = { commandId: 'returned', period: 1, amount: 700 };
    const result = { status: 'declined', category: 'provider_error', confirmed: false, amount: 700 };
    for (let times = 0; times < 2; times += 1)
      expect(await flow.command('refundPeriod', refund)).toMatchObject({ result });
    expect(time.requests.operations(bill?.payment_id ?? '', 'refunds')).toHaveLength(2);
    await flow.command('cancel', { when: 'now' });
  });

  test('is confirmed of a charge, which the interface names a read of', async () => {
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'), [{ ...FAILED, path: '*/charges' }]);
    expect(await flow.outcome()).toMatchObject({ status: 'declined', category: 'provider_error', confirmed: true });
    expect(time.requests.chargePosts(flow.reference)).toHaveLength(1);
  });

  test('leaves a bill to a person where not even that is offered, and it is billed once, as that one says', async () => {
    await time.sandbox.addFault(answers(405, 'GET', '*/charges/*'));
    const { flow, reach, tried } = await beginWeekly(time, { periods: 1 }, { '1.1': FAILED });
    await reach(1);
    expect(await flow.status()).toMatchObject({ status: 'pastDue', waitingFor: 'operator', needsOperator: true });
    await reach(4);
    expect(await tried()).toEqual(['1.1 day 0 Failed 6000 EUR']);
    await flow.command('settleManually', { ...OPERATOR, status: 'declined' });
    expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
    expect(await tried()).toEqual(['1.1 day 0 Failed 6000 EUR', expect.stringMatching(/^1\.2 .*Succeed 6000 EUR$/)]);
  });
});
