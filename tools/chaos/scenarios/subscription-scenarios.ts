import type { FlowStatus } from '../../../src/contract/messages.js';
import { storedCard } from './card-scenarios.js';
import type { FlowDriver } from '../driver/flow-driver.js';
import type { Pick, Scenario } from './scenario.js';
import type { SubscriptionDriver, Wanted } from '../driver/subscription-driver.js';

/** Subscriptions: periods that are due at once, and commands meanwhile. */
export const SUBSCRIPTION_SCENARIOS: readonly Scenario[] = [
  {
    name: 'subscription of three periods',
    run: async (driver, pick) => {
      const subscription = await begin(driver, pick, { interval: 'day', periods: 3, sinceDays: 3 });
      await subscription.ended();
      expectBilled(driver, subscription, 3);
    },
  },
  {
    name: 'subscription, billed now',
    run: async (driver, pick) => {
      const subscription = await begin(driver, pick, { interval: 'week', periods: 3, sinceDays: 0 });
      // Races the due time: either the command or the schedule bills the period.
      await subscription.command('billNow', { period: 1 }, 'first');
      await subscription.reaches((status) => status.subscription?.billedPeriods === 1);
      const second = await sendTwice(driver, () => subscription.command('billNow', { period: 2 }, 'second'));
      // Whatever arrives together with the end of the first payment comes before it, and only then.
      if (second.refusal?.message.includes('while period 1 is open') === true) {
        const anew = await sendTwice(driver, () => subscription.command('billNow', { period: 2 }, 'second anew'));
        driver.expect(anew.refusal === undefined, 'a bill was refused although the one before has been paid');
      }
      const again = await subscription.command('billNow', { period: 2 }, 'third');
      driver.expect(again.refusal?.type === 'StateConflict', 'a period that was billed was not refused to be billed');
      const refund = { period: pick([1, 2]), amount: 6_000 };
      await sendTwice(driver, () => subscription.command('refundPeriod', refund));
      await sendTwice(driver, () => subscription.command('cancel', { when: 'now' }));
      await subscription.ended();
      expectBilled(driver, subscription, 2);
    },
  },
  {
    name: 'subscription, declined softly',
    run: async (driver, pick) => {
      await driver.external.declineFirstBill('insufficient_funds');
      const subscription = await begin(driver, pick, { interval: 'week', periods: 1, sinceDays: 0 });
      await subscription.reaches(isTried);
      await subscription.command('billNow', { period: 1 });
      await subscription.command('cancel', { when: 'now' });
      await subscription.ended();
      expectBilled(driver, subscription, 1);
    },
  },
  {
    name: 'subscription, another card',
    run: async (driver, pick) => {
      await driver.external.declineFirstBill('lost_stolen_card');
      const other = await storedCard(driver.another('c2'), pick, undefined, driver.reference('buyer'));
      const subscription = await begin(driver, pick, { interval: 'week', periods: 2, sinceDays: 0 });
      await subscription.reaches(isTried);
      const { token, cardOnFile } = other;
      const { consentTransactionId } = cardOnFile as { consentTransactionId?: string };
      const card = { token, ...(consentTransactionId !== undefined && { consentTransactionId }) };
      await sendTwice(driver, () => subscription.command('changeCard', card));
      await subscription.reaches((status) => status.subscription?.billedPeriods === 1);
      const { refusal } = await subscription.command('refundPeriod', {});
      // A run after a reset can't tell which period was the last one. The merchant names it, under the same command id.
      if (refusal?.message.includes('name the period') === true)
        await subscription.command('refundPeriod', { period: 1 });
      await subscription.command('cancel', { when: 'now' });
      await subscription.ended();
      expectBilled(driver, subscription, 1);
    },
  },
  {
    name: 'subscription, stopped at a payment',
    run: async (driver, pick) => {
      const subscription = await begin(driver, pick, { interval: 'day', periods: 2, sinceDays: 2 });
      if (pick([true, false])) {
        const { refusal } = await subscription.command('pause', {});
        if (refusal === undefined) await subscription.command('resume', { missedPeriods: 'billAll' });
      } else await subscription.command('cancel', { when: 'now' });
      await subscription.ended();
    },
  },
];

/** True once the bill was declined as planned, or billed because the faults had ended. */
function isTried({ status, subscription }: FlowStatus): boolean {
  return status === 'pastDue' || subscription?.billedPeriods === 1;
}

async function begin(driver: FlowDriver, pick: Pick, wanted: Wanted): Promise<SubscriptionDriver> {
  return await driver.subscribe(await storedCard(driver, pick), wanted);
}

/** Sends one command twice. Both callers must get the same result. */
async function sendTwice(
  driver: FlowDriver,
  command: () => ReturnType<SubscriptionDriver['command']>,
): ReturnType<SubscriptionDriver['command']> {
  const given = await Promise.all([command(), command()]);
  const seen = given.map(({ answer, refusal }) => JSON.stringify(answer?.result) ?? refusal?.type ?? 'done');
  driver.expect(seen[0] === seen[1], `the same ${given[0].name} was told as ${seen.join(' and as ')}`);
  return given[0];
}

function expectBilled(driver: FlowDriver, { billedPeriods }: SubscriptionDriver, periods: number): void {
  driver.expect(billedPeriods === periods, `${billedPeriods} of its periods were billed, and not ${periods}`);
}
