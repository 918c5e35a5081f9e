import { expect, test } from 'vitest';
import type { SubscriptionInput } from '../../../src/contract/subscription.js';
import { inRome, later } from '../../support/subscriptions.js';
import { resetToFirstTask } from '../../support/resets.js';
import { HOUR, sharedTime } from './context.js';
import { beginWeekly } from './weekly.js';

const time = sharedTime({ billing: true });

/** `reset`: the run of this number, from 0, begins again, and is given its commands once more. */
async function weekly(overrides: Partial<SubscriptionInput> = {}) {
  const subscription = await beginWeekly(time, overrides);
  const { workflowId } = subscription.flow;
  const runs = () => [...time.simulation.engine.all()].filter(({ start }) => start.workflowId === workflowId);
  return {
    ...subscription,
    reset: async (run: number) => {
      await resetToFirstTask(time.client, workflowId, [], runs()[run]?.start.runId);
      await time.passUntil((await time.now()) + HOUR);
    },
    dayOf: (day: number, hour?: number) => new Date(inRome(later(subscription.input.anchor, day), hour)).toISOString(),
  };
}

test.each([[0], [1]])(
  'a pause that a reset gives again after its end charges nothing of its time (run %i)',
  async (run) => {
    const { flow, reach, reset, tried, dayOf } = await weekly();
    await reach(run === 0 ? -1 : 1);
    await flow.command('pause', { until: dayOf(10) });
    await reach(11);
    const billed = await tried();
    expect(billed).toHaveLength(run);
    await reset(run);
    await reach(12);
    expect(await tried()).toEqual(billed);
    expect(await flow.status()).toMatchObject({
      status: 'active',
      subscription: { billedPeriods: run, missedPeriods: 2 - run },
    });
    await reach(14);
    expect((await tried()).slice(run)).toEqual(['3.1 day 14 Succeed 6000 EUR']);
    await flow.command('cancel', { when: 'now' });
  },
);
