import type { SubscriptionInput } from '../../../src/contract/subscription.js';
import type { resetToEachTask } from '../../support/resets.js';
import { bills, inRome, later, monthly, plantOn, subscribe } from '../../support/subscriptions.js';
import { ledgerRows } from '../../support/virtual-flows.js';
import type { SimulatedTime } from '../simulated-time.js';
import { DAY } from './context.js';

/** Weekly ones of 60.00 EUR; days are counted from the first bill. */
export async function beginWeekly(
  time: SimulatedTime,
  overrides: Partial<SubscriptionInput> = {},
  faults: Readonly<Record<string, Parameters<typeof plantOn>[3]>> = {},
) {
  const input = { ...(await monthly(time, { interval: { every: 1, unit: 'week' } })), ...overrides };
  for (const [on, fault] of Object.entries(faults)) await plantOn(time, input.reference, on, fault);
  const flow = await subscribe(time, input);
  return {
    flow,
    input,
    reach: async (day: number, hour = 12) => await time.passUntil(inRome(later(input.anchor, day), hour)),
    /** What the ledger has, as `1.1 day 0 Succeed 6000 EUR`. */
    tried: async () =>
      (await bills(time, flow.reference)).map((line) =>
        line.replace(
          /(\d{4}-\d\d-\d\d) \d\dh/,
          (_whole, date: string) => `day ${(Date.parse(date) - Date.parse(input.anchor)) / DAY}`,
        ),
      ),
    /** What moved on one payment of it. */
    moved: async (on: string) => {
      const [bill] = await time.sandbox.ledger(`${flow.reference}.${on}`);
      return await ledgerRows(time, bill?.payment_id);
    },
  };
}

export const engineOf = (time: SimulatedTime) =>
  ({ temporal: time.client, namespace: time.client.options.namespace }) as Parameters<typeof resetToEachTask>[0];

export type WeeklyArguments = Parameters<typeof beginWeekly> extends [unknown, ...infer Rest] ? Rest : never;
