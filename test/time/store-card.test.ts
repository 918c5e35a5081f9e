import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { StoreCardInput } from '../../src/contract/cards.js';
import type { FaultInput } from '../../sandbox/control.js';
import { atFullCounts } from '../support/at-full-counts.js';
import { storeInput } from '../support/cards.js';
import { newReference } from '../support/charges.js';
import { movements } from '../support/payments.js';
import { until } from '../support/until.js';
import { begin, SPECS } from '../support/virtual-flows.js';
import { HOUR, MINUTE, startVirtualTime, type VirtualTime } from '../support/virtual-time.js';

const DAY = 24 * HOUR;
/** A day of retries takes its time. */
const DECLINED: FaultInput = { action: 'result', status: 'Failed', category: 'payment_method_declined' };
const down = (method: 'POST' | 'GET', path: string): FaultInput => ({ action: 'status', status: 503, method, path });
const STORED_CARD = '*/payment-methods/*';
/** Its retries are slow: fewer of them in twenty hours than of a 503. */
const rejected = (path: string): FaultInput => ({ action: 'status', status: 401, method: 'POST', path });

let time: VirtualTime;
beforeAll(async () => {
  time = await startVirtualTime();
});
afterAll(async () => {
  await time?.close();
});

/** Faults without a payment in their path can't be bound to a reference: they are lifted again by `lift`. */
async function storing(overrides: Partial<StoreCardInput> = {}, faults: readonly FaultInput[] = []) {
  await time.input();
  const input = await storeInput(time, overrides);
  const planted: { id: string }[] = [];
  for (const fault of faults) {
    const ofPayment = ['void', 'refund', 'authorization', 'charge'].some((kind) => fault.path?.includes(kind));
    const bound = ofPayment ? { reconciliation_id: input.reference } : {};
    planted.push(await time.sandbox.addFault({ ...fault, ...bound }));
  }
  const flow = await begin(time, SPECS.storeCard(input));
  const lift = () => Promise.all(planted.map(({ id }) => time.sandbox.removeFault(id).catch(() => undefined)));
  return { ...flow, input, lift };
}

const refusedCard: FaultInput = { action: 'status', status: 400, method: 'POST', path: STORED_CARD, times: 1 };

describe('the money of a consent', () => {
  test('is kept while nobody can read whether the card is on file, and that it is comes out later', async () => {
    const customer = { customerReference: newReference('customer') };
    const customerId = (await time.provider.createCustomer(customer)).data.id;
    const flow = await storing({ customer, consent: { by: 'charge' } }, [
      refusedCard,
      down('GET', `/customers/${customerId}/payment-methods`),
    ]);
    await time.passUntil(flow.startedAt + 3 * HOUR);
    expect(await flow.status()).toMatchObject({ status: 'unknown', waitingFor: 'proof' });
    await time.provider.storePaymentMethod(customerId, flow.input.paymentMethod.token);
    await flow.lift();
    expect(await flow.outcome()).toMatchObject({ status: 'stored', money: { status: 'kept' } });
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
  });

  test('that was held is released in the end, though the service declines that at first', async () => {
    const flow = await storing({}, [{ ...DECLINED, path: '*/voids', times: 4 }]);
    await time.passUntil(flow.startedAt + 50 * MINUTE);
    expect(await flow.status()).toMatchObject({ status: 'voiding', needsOperator: true });
    expect(await flow.outcome()).toMatchObject({ status: 'stored', money: { status: 'voided' } });
    expect(await movements(time, flow.reference)).toEqual([
      'authorization Succeed 6000 USD',
      ...Array<string>(4).fill('void Failed 6000 USD'),
      'void Succeed 6000 USD',
    ]);
  });

  test('that was charged is refunded in the end, once, though the service declines that at first', async () => {
    const flow = await storing({ consent: { by: 'charge' } }, [
      refusedCard,
      { ...DECLINED, path: '*/refunds', times: 2 },
      { action: 'status', status: 409, method: 'POST', path: '*/refunds', times: 1 },
      { action: 'drop_reply', method: 'POST', path: '*/refunds', times: 1 },
    ]);
    expect(await flow.outcome()).toMatchObject({ status: 'consentedNotStored', money: { status: 'refunded' } });
    await flow.lift();
    const moved = await movements(time, flow.reference);
    expect(moved.filter((one) => one === 'refund Succeed 6000 USD')).toHaveLength(1);
  });

  test('is not refunded again before its declined refund could be read back as failed', async () => {
    const flow = await storing({ consent: { by: 'charge' } }, [
      refusedCard,
      { ...DECLINED, path: '*/refunds', times: 1 },
      down('GET', '*/refunds/*'),
    ]);
    const keys = () => {
      const sent = time.requests.posts(flow.reference).map(({ key }) => key);
      return new Set(sent.filter((key) => key?.includes(':refund:'))).size;
    };
    await time.passUntil(flow.startedAt + 50 * MINUTE);
    expect(keys()).toBe(1);
    await flow.lift();
    expect(await flow.outcome()).toMatchObject({ money: { status: 'refunded' } });
    expect(keys()).toBe(2);
  });

  test('that can not be refunded for a day is said to be so', async () => {
    const flow = await storing({ consent: { by: 'charge' } }, [refusedCard, { ...DECLINED, path: '*/refunds' }]);
    await time.passUntil(flow.startedAt + 2 * HOUR);
    expect(await flow.status()).toMatchObject({ status: 'refunding', needsOperator: true });
    expect(await flow.outcome()).toMatchObject({
      status: 'consentedNotStored',
      money: { status: 'notRefunded', why: 'payment_method_declined' },
    });
    expect(await time.holdfast.explain(flow.reference)).toContain('Refund the charge');
    const keys = new Set(time.requests.posts(flow.reference).map(({ key }) => key));
    expect([...keys].filter((key) => key?.includes(':refund:')).length).toBe(9);
  });

  test('is not refunded twice where nobody has confirmed that the first time failed', async () => {
    const unreachable: FaultInput = { ...DECLINED, category: 'provider_network_error', path: '*/refunds' };
    const flow = await storing({ consent: { by: 'charge' } }, [refusedCard, unreachable]);
    expect(await flow.outcome()).toMatchObject({
      money: { status: 'notRefunded', why: expect.stringContaining('confirmed') },
    });
    const keys = new Set(time.requests.posts(flow.reference).map(({ key }) => key));
    expect([...keys].filter((key) => key?.includes(':refund:'))).toHaveLength(1);
  });
});

describe('a card', () => {
  test('that another has put on file meanwhile is on file, and its consent is not undone', async () => {
    const flow = await storing({ consent: { by: 'charge' } }, [
      { action: 'result', status: 'Pending', path: '*/charges', times: 1 },
      refusedCard,
    ]);
    const ledger = () => time.sandbox.ledger(flow.reference);
    const [pending] = await until(ledger, ({ length }) => length > 0);
    const { customerReference } = flow.input.customer;
    const { data: customer } = await time.provider.findCustomer(customerReference);
    await flow.lift();
    await time.provider.storePaymentMethod(customer?.id ?? '', flow.input.paymentMethod.token);
    const refused = await time.sandbox.addFault(refusedCard);
    await time.sandbox.complete(pending?.transaction_id ?? '', { status: 'Succeed' });
    expect(await flow.outcome()).toMatchObject({ status: 'stored', money: { status: 'kept' } });
    await time.sandbox.removeFault(refused.id).catch(() => undefined);
  });

  atFullCounts(
    'that the service can not store before its token expires is not on file, and the hold is released',
    async () => {
      const flow = await storing({}, [rejected(STORED_CARD)]);
      await time.passUntil(flow.startedAt + 22 * HOUR);
      expect(await flow.status()).toMatchObject({ status: 'started', waitingFor: 'credentials' });
      const outcome = await flow.outcome();
      await flow.lift();
      expect(outcome).toMatchObject({
        status: 'consentedNotStored',
        code: 'tokenExpired',
        money: { status: 'voided' },
      });
      expect(Date.parse(outcome.evidence.settledAt)).toBeLessThan(flow.startedAt + HOUR);
      expect(await movements(time, flow.reference)).toEqual([
        'authorization Succeed 6000 USD',
        'void Succeed 6000 USD',
      ]);
    },
  );

  test('of which nobody can say for a day whether it is stored is found by a read, and no consent is undone', async () => {
    const flow = await storing({ consent: { by: 'charge' } }, [
      { action: 'drop_reply', method: 'POST', path: STORED_CARD, times: 1 },
      rejected(STORED_CARD),
    ]);
    await until(
      () => time.sandbox.faults(),
      (faults) => faults.some(({ action, fired }) => action === 'drop_reply' && fired > 0),
    );
    const lists = await time.sandbox.addFault(down('GET', '*/payment-methods'));
    await time.passUntil(flow.startedAt + DAY + 2 * HOUR);
    expect(await flow.status()).toMatchObject({ status: 'unknown', waitingFor: 'proof' });
    expect(await time.holdfast.explain(flow.reference)).toContain('put on file');
    await time.sandbox.removeFault(lists.id);
    expect(await flow.outcome()).toMatchObject({ status: 'stored', money: { status: 'kept' } });
    await flow.lift();
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
  });

  test('is stored without delay when the consent can not be read, whose id is read later', async () => {
    const flow = await storing({}, [down('GET', '*/authorizations/*')]);
    await time.passUntil(flow.startedAt + HOUR);
    const { reference } = flow;
    expect(await movements(time, reference)).toEqual(['authorization Succeed 6000 USD', 'void Succeed 6000 USD']);
    await flow.lift();
    expect(await flow.outcome()).toMatchObject({ status: 'stored', consentTransactionId: expect.any(String) });
  });
});

describe('nothing was charged', () => {
  atFullCounts('where the customer could not be made for as long as a key lives', async () => {
    const flow = await storing({}, [rejected('/customers')]);
    const outcome = await flow.outcome();
    await flow.lift();
    expect(outcome).toMatchObject({ status: 'notExecuted', evidence: { proof: 'no money operation was ever sent' } });
    expect(outcome).not.toHaveProperty('paymentId');
    expect(Date.parse(outcome.evidence.settledAt)).toBeGreaterThanOrEqual(flow.startedAt + 20 * HOUR);
  });

  atFullCounts('where the consent is proven never to have been executed', async () => {
    const flow = await storing({}, [{ ...down('POST', '*/authorizations'), times: 1 }, rejected('*/authorizations')]);
    expect(await flow.outcome()).toMatchObject({ status: 'notExecuted', evidence: { knownBy: 'poll' } });
    expect(await movements(time, flow.reference)).toEqual([]);
  });

  test('where the flow was cancelled before its first send', async () => {
    await time.input();
    const input = await storeInput(time);
    await time.stopWorker();
    const flow = await begin(time, SPECS.storeCard(input));
    await flow.cancel();
    await time.startWorker();
    await expect(flow.outcome()).rejects.toMatchObject({ name: 'WorkflowFailedError' });
    expect(time.requests.posts(flow.reference)).toEqual([]);
  });
});
