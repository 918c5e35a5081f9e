import type { SubscriptionInput } from '../../../src/contract/subscription.js';
import { firstRunOf, type resetToEachTask, resetToFirstTask } from '../../support/resets.js';
import { bills, inRome, later, monthly, plantOn, subscribe } from '../../support/subscriptions.js';
import { ledgerRows } from '../../support/virtual-flows.js';
import type { SimulatedTime } from '../simulated-time.js';
import { DAY, HOUR } from './context.js';

/** RESET_REAPPLY_EXCLUDE_TYPE_UPDATE. */
const UPDATES = 2;

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
    /** Ends the payment `on` of it, which pends. */
    complete: async (on: string, end: Parameters<SimulatedTime['sandbox']['complete']>[1]) => {
      const [sent] = await time.sandbox.ledger(`${flow.reference}.${on}`);
      await time.sandbox.complete(sent?.transaction_id ?? '', end);
    },
    /** Its first run begins again, and is given none of the commands. */
    beginAgain: async () => {
      const firstRun = await firstRunOf(time.client, flow.workflowId);
      await resetToFirstTask(time.client, flow.workflowId, [UPDATES], firstRun);
      await time.passUntil((await time.now()) + HOUR);
    },
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
