import { beforeAll, describe, expect, test } from 'vitest';
import { atFullCounts } from '../../support/at-full-counts.js';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { storedCard } from '../../support/cards.js';
import { newReference } from '../../support/charges.js';
import { movements } from '../../support/payments.js';
import { anotherCard, bills, customerWithCard, monthly, plantOn, subscribe } from '../../support/subscriptions.js';
import {
  answers,
  beginFlow,
  DAY,
  failsWith,
  followPending,
  HOUR,
  inputOf,
  lostReply,
  MINUTE,
  OPERATOR,
  sharedTime,
} from './context.js';

const time = sharedTime({ billing: true });
beforeAll(async () => {
  await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: { offers: 'interface' } });
});

describe('where nothing is offered but what the interface names', () => {
  test('a card is stored, listed, billed each period once although replies are lost, and removed', async () => {
    const { customerId, token, consentTransactionId } = await storedCard(time);
    // Of an authorization there is no read: its own answer has named the consent.
    expect(consentTransactionId).toEqual(expect.any(String));
    expect((await time.holdfast.listCards({ customerId })).cards).toMatchObject([{ token }]);
    const plan = await monthly(time, { customerId, token, periods: 3 });
    await plantOn(time, plan.reference, '2.1', lostReply('*/charges', 2));
    const subscription = await subscribe(time, plan);
    expect(await subscription.ended()).toMatchObject({ status: 'completed' });
    const billed = (await bills(time, subscription.reference)).map((line) => line.replace(/ .* (?=Succeed)/, ' '));
    expect(billed).toEqual(['1.1 Succeed 6000 EUR', '2.1 Succeed 6000 EUR', '3.1 Succeed 6000 EUR']);
    expect(await time.holdfast.removeCard({ customerId, token })).toEqual({ customerId, token, status: 'removed' });
    expect((await time.holdfast.listCards({ customerId })).cards).toEqual([]);
  });

  test('a subscription takes a card that its customer shows, at its start and by changeCard, and no other one', async () => {
    const plan = await monthly(time, { periods: 2 });
    const { token: foreign } = await customerWithCard(time);
    const noCard = failsWith('InvalidInput', 'token: ');
    const refused = await subscribe(time, { ...plan, reference: newReference('club'), token: foreign });
    await expect(refused.ended()).rejects.toMatchObject(noCard);
    const subscription = await subscribe(time, plan);
    await subscription.worksOn();
    const token = await anotherCard(time, plan.customerId);
    await subscription.command('changeCard', { token });
    await expect(subscription.command('changeCard', { token: foreign })).rejects.toMatchObject(noCard);
    expect(await subscription.ended()).toMatchObject({ status: 'completed', billedPeriods: 2, card: { token } });
  });

  // What is sent for 20 hours and then only read is shown by interface-only, for every flow.
  atFullCounts(
    'a card whose consent only an event has told of is stored once its key is of no more use, and no day later',
    async () => {
      const input = await inputOf(time, 'storeCard', { consent: { by: 'authorization' } });
      const flow = await beginFlow(time, 'storeCard', input, [
        lostReply('*/authorizations'),
        answers(503, 'POST', '*/authorizations'),
      ]);
      await time.passUntil(flow.startedAt + MINUTE);
      const [held] = await time.sandbox.ledger(flow.reference);
      const transactionId = held?.transaction_id ?? '';
      const eventType = 'payment.authorization.update';
      const signed = { eventType, transactionId, status: 'Succeed', amount: 6_000, reconciliationId: flow.reference };
      await flow.event(signed as Parameters<typeof flow.event>[0]);
      expect(await flow.outcome()).toMatchObject({
        status: 'stored',
        consentIdMissing: expect.stringContaining('its id is in no answer that came'),
      });
      expect(await time.now()).toBeLessThan(flow.startedAt + 21 * HOUR);
      expect(await movements(time, flow.reference)).toEqual([
        'authorization Succeed 6000 USD',
        'void Succeed 6000 USD',
      ]);
    },
  );

  test('a pending charge of another program is followed by reads', async () => {
    const transactionId = await followPending(time, 'charge');
    await time.passUntil((await time.now()) + HOUR);
    expect(await time.holdfast.status({ transactionId })).toMatchObject({
      outcome: { status: 'succeeded', evidence: { knownBy: 'poll' } },
    });
  });

  test('of a pending credit, which nothing shows, an operator says how it has ended', async () => {
    const transactionId = await followPending(time, 'credit');
    await time.passUntil((await time.now()) + 2 * DAY);
    expect(await time.holdfast.status({ transactionId })).toMatchObject({
      needsOperator: true,
      operatorReason: expect.stringContaining('offers no read of the credit'),
    });
    await time.holdfast.settleManually({ transactionId }, { ...OPERATOR, status: 'succeeded' });
    expect((await time.holdfast.status({ transactionId })).outcome).toMatchObject({
      status: 'succeeded',
      evidence: { knownBy: 'operator' },
    });
  });
});
