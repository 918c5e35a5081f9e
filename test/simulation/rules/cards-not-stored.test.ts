import { afterEach, describe, expect, test } from 'vitest';
import type { StoreCardInput } from '../../../src/contract/cards.js';
import type { FaultInput } from '../../../sandbox/control.js';
import { STORE } from '../../support/cards.js';
import { movements } from '../../support/payments.js';
import { answers, beginFlow, DAY, declined, HOUR, inputOf, keysOf, MINUTE, OPERATOR, sharedTime } from './context.js';

const time = sharedTime();
const LIST = '/customers/*/payment-methods';

afterEach(async () => {
  time.simulation.world.sandbox.through = (request, serve) => serve(request);
  for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
});

const OF = {
  authorization: { moved: ['authorization Succeed 6000 USD', 'void Succeed 6000 USD'], money: { status: 'voided' } },
  charge: { moved: ['charge Succeed 6000 USD', 'refund Succeed 6000 USD'], money: { status: 'refunded' } },
} as const;

async function begun(by: keyof typeof OF, faults: readonly FaultInput[] = []) {
  const input = (await inputOf(time, 'storeCard', { consent: { by } })) as StoreCardInput;
  return { input, flow: await beginFlow(time, 'storeCard', input, faults) };
}

async function customerOf({ customer: { customerReference } }: StoreCardInput): Promise<string> {
  return (await time.provider.findCustomer(customerReference)).data?.id ?? '';
}

describe('a card whose customer is deleted while the consent pends', () => {
  test.each(['authorization', 'charge'] as const)('is not stored, and the %s is given back', async (by) => {
    const pends = { action: 'result', status: 'Pending', path: `*/${by}s` } as const;
    const { input, flow } = await begun(by, [pends]);
    await time.passUntil(flow.startedAt + 3 * HOUR);
    const { transactionId = '' } = await flow.status();
    await time.provider.deleteCustomer(await customerOf(input));
    await time.sandbox.complete(transactionId, { status: 'Succeed' });
    const since = await time.now();
    expect(await flow.outcome()).toMatchObject({
      status: 'consentedNotStored',
      code: 'refused',
      reason: expect.stringContaining('Customer not found.'),
      money: OF[by].money,
    });
    expect(await movements(time, flow.reference)).toEqual(OF[by].moved);
    // One 404 may come from a lag: the reads that count span a quarter of an hour.
    const took = (await time.now()) - since;
    expect(took).toBeGreaterThan(15 * MINUTE);
    expect(took).toBeLessThan(3 * HOUR);
  });
});

test('a refund of the consent that was declined, and is read as succeeded later, is the only one', async () => {
  const { sandbox } = time.simulation.world;
  sandbox.through = async (request, serve) => {
    const reply = await serve(request);
    if (request.method !== 'GET' || !/\/refunds\/[^/]+$/.test(request.path)) return reply;
    return { ...reply, body: Buffer.from(String(reply.body).replace('"status":"Failed"', '"status":"Succeed"')) };
  };
  await time.sandbox.addFault(answers(400, 'POST', STORE.path));
  const { flow } = await begun('charge', [{ ...declined('*/refunds'), times: 1 }]);
  const outcome = await flow.outcome();
  const [, refund] = await time.sandbox.ledger(flow.reference);
  expect(outcome).toMatchObject({ money: { status: 'refunded', transactionId: refund?.transaction_id } });
  expect(keysOf(time, flow.reference).filter((key) => key.startsWith('refund'))).toEqual(['refund:1']);
  expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD', 'refund Failed 6000 USD']);
});

describe('where a service offers no list of cards', () => {
  test.each([404, 405, 501])('a card that it refuses is looked for with the customer (%i)', async (status) => {
    await time.sandbox.addFault(answers(status, 'GET', LIST));
    await time.sandbox.addFault({ ...STORE, action: 'status', status: 400, times: 1 });
    const { flow } = await begun('authorization');
    expect(await flow.outcome()).toMatchObject({
      status: 'consentedNotStored',
      code: 'refused',
      ...{ money: OF.authorization.money },
    });
    expect(await movements(time, flow.reference)).toEqual(OF.authorization.moved);
    expect(await time.now()).toBeLessThan(flow.startedAt + 10 * MINUTE);
  });

  test('a card whose answers were lost is found with the customer, and listed', async () => {
    await time.sandbox.addFault(answers(404, 'GET', LIST));
    await time.sandbox.addFault({ ...STORE, action: 'drop_reply', times: 1 });
    await time.sandbox.addFault({ ...STORE, action: 'status', status: 400 });
    const { input, flow } = await begun('authorization');
    expect(await flow.outcome()).toMatchObject({ status: 'stored' });
    const customerId = await customerOf(input);
    expect((await time.holdfast.listCards({ customerId })).cards).toMatchObject([{ token: input.paymentMethod.token }]);
  });
});

describe('where neither list nor customer can be read, and the customer is there', () => {
  test('a card that may be on file is never called absent: a person is told so, and it is found in the end', async () => {
    await time.sandbox.addFault({ ...STORE, action: 'drop_reply', times: 1 });
    await time.sandbox.addFault({ ...STORE, action: 'status', status: 400 });
    const { input, flow } = await begun('charge');
    const unread = await time.sandbox.addFault(answers(404, 'GET', '/customers/*'));
    await time.passUntil(flow.startedAt + HOUR);
    expect(await flow.status()).toMatchObject({ status: 'unknown', waitingFor: 'proof', needsOperator: false });
    const said = time.holdfast.settleManually(flow.reference, { ...OPERATOR, status: 'notExecuted' });
    await expect(said).rejects.toThrow('no money is in question, only a card');
    await time.passUntil(flow.startedAt + DAY + 2 * HOUR);
    const customerId = await customerOf(input);
    expect(await flow.status()).toMatchObject({
      status: 'unknown',
      operatorReason: expect.stringContaining(
        `the buyer has consented, and for 24 hours nothing has told whether the card is on file with customer ${customerId}: `,
      ),
    });
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
    await time.sandbox.removeFault(unread.id);
    expect(await flow.outcome()).toMatchObject({ status: 'stored', money: { status: 'kept' } });
  });
});
