import type { FlowStatus } from '../../../src/contract/messages.js';
import { storedCard } from './card-scenarios.js';
import type { Desk } from './desk.js';
import type { Pick, Scenario } from './scenario.js';
import type { SubscriptionDesk, Wanted } from './subscription-desk.js';

/** Cards on file that are billed: periods that came due at once, and what can be commanded meanwhile. */
export const SUBSCRIPTION_SCENARIOS: readonly Scenario[] = [
  {
    name: 'subscription of three periods',
    play: async (desk, pick) => {
      const subscription = await begin(desk, pick, { interval: 'day', periods: 3, sinceDays: 3 });
      await subscription.ended();
      expectBilled(desk, subscription, 3);
    },
  },
  {
    name: 'subscription, billed now',
    play: async (desk, pick) => {
      const subscription = await begin(desk, pick, { interval: 'week', periods: 3, sinceDays: 0 });
      // Races the calendar: billed by the one or the other.
      await subscription.command('billNow', { period: 1 }, 'first');
      await subscription.reaches((status) => status.subscription?.billedPeriods === 1);
      await bothTold(desk, () => subscription.command('billNow', { period: 2 }, 'second'));
      const again = await subscription.command('billNow', { period: 2 }, 'third');
      desk.expect(again.refusal?.type === 'StateConflict', 'a period that was billed was not refused to be billed');
      const refund = { period: pick([1, 2]), amount: 6_000 };
      await bothTold(desk, () => subscription.command('refundPeriod', refund));
      await bothTold(desk, () => subscription.command('cancel', { when: 'now' }));
      await subscription.ended();
      expectBilled(desk, subscription, 2);
    },
  },
  {
    name: 'subscription, declined softly',
    play: async (desk, pick) => {
      await desk.outside.declineFirstBill('insufficient_funds');
      const subscription = await begin(desk, pick, { interval: 'week', periods: 1, sinceDays: 0 });
      await subscription.reaches(isTried);
      await subscription.command('billNow', { period: 1 });
      await subscription.command('cancel', { when: 'now' });
      await subscription.ended();
      expectBilled(desk, subscription, 1);
    },
  },
  {
    name: 'subscription, another card',
    play: async (desk, pick) => {
      await desk.outside.declineFirstBill('lost_stolen_card');
      const other = await storedCard(desk.another('c2'), pick, undefined, desk.reference('buyer'));
      const subscription = await begin(desk, pick, { interval: 'week', periods: 2, sinceDays: 0 });
      await subscription.reaches(isTried);
      const { token, cardOnFile } = other;
      const { consentTransactionId } = cardOnFile as { consentTransactionId?: string };
      const card = { token, ...(consentTransactionId !== undefined && { consentTransactionId }) };
      await bothTold(desk, () => subscription.command('changeCard', card));
      await subscription.reaches((status) => status.subscription?.billedPeriods === 1);
      await subscription.command('refundPeriod', {});
      await subscription.command('cancel', { when: 'now' });
      await subscription.ended();
      expectBilled(desk, subscription, 1);
    },
  },
  {
    name: 'subscription, stopped at a payment',
    play: async (desk, pick) => {
      const subscription = await begin(desk, pick, { interval: 'day', periods: 2, sinceDays: 2 });
      if (pick([true, false])) {
        const { refusal } = await subscription.command('pause', {});
        if (refusal === undefined) await subscription.command('resume', { missedPeriods: 'billAll' });
      } else await subscription.command('cancel', { when: 'now' });
      await subscription.ended();
    },
  },
];

/** Declined as planned, or billed where the faults were over by then. */
function isTried({ status, subscription }: FlowStatus): boolean {
  return status === 'pastDue' || subscription?.billedPeriods === 1;
}

async function begin(desk: Desk, pick: Pick, wanted: Wanted): Promise<SubscriptionDesk> {
  return await desk.subscribe(await storedCard(desk, pick), wanted);
}

/** Both callers of one command must be told the same of its money. */
async function bothTold(desk: Desk, command: () => ReturnType<SubscriptionDesk['command']>): Promise<void> {
  const told = await Promise.all([command(), command()]);
  const seen = told.map(({ answer, refusal }) => JSON.stringify(answer?.result) ?? refusal?.type ?? 'done');
  desk.expect(seen[0] === seen[1], `the same ${told[0].name} was told as ${seen.join(' and as ')}`);
}

function expectBilled(desk: Desk, { billedPeriods }: SubscriptionDesk, periods: number): void {
  desk.expect(billedPeriods === periods, `${billedPeriods} of its periods were billed, and not ${periods}`);
}
