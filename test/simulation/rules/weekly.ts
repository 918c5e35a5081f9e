import { expect } from 'vitest';
import type { SubscriptionInput } from '../../../src/contract/subscription.js';
import { firstRunOf, resetTo, type resetToEachTask, resetToFirstTask, tasksOf } from '../../support/resets.js';
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

/** One whose runs are reset. `reset`: the run of this number, from 0, begins again, and is given its commands once more. */
export async function beginResettable(...given: Parameters<typeof beginWeekly>) {
  const [time] = given;
  const subscription = await beginWeekly(...given);
  const { workflowId } = subscription.flow;
  const runs = () => [...time.simulation.engine.all()].filter(({ start }) => start.workflowId === workflowId);
  return {
    ...subscription,
    reset: async (run: number) => {
      await resetToFirstTask(time.client, workflowId, [], runs()[run]?.start.runId);
      await time.passUntil((await time.now()) + HOUR);
    },
    /** The workflow tasks of the run so far. */
    tasks: async (run: number) => await tasksOf(time.client, workflowId, runs()[run]?.start.runId ?? ''),
    /** As `reset`, or to that task, which is done anew, on a day before which no worker has been there for a while. */
    resetAfterOutage: async (run: number, day: number, task?: Awaited<ReturnType<typeof tasksOf>>[number]) => {
      await time.stopWorker();
      await time.passUnserved(inRome(later(subscription.input.anchor, day)));
      const runId = runs()[run]?.start.runId ?? '';
      if (task === undefined) await resetToFirstTask(time.client, workflowId, [], runId);
      else await resetTo(time.client, { workflowId, runId }, task);
      await time.startWorker();
      await time.passUntil((await time.now()) + HOUR);
    },
    dayOf: (day: number, hour?: number) => new Date(inRome(later(subscription.input.anchor, day), hour)).toISOString(),
  };
}

/** The status of one that waits for a person since a reset has given it commands again. */
export function inDoubtAfter(commands: string) {
  const operatorReason = expect.stringContaining(`again ${commands}, and what was refused`) as unknown;
  return { status: 'paused', needsOperator: true, operatorReason };
}

export const engineOf = (time: SimulatedTime) =>
  ({ temporal: time.client, namespace: time.client.options.namespace }) as Parameters<typeof resetToEachTask>[0];

export type WeeklyArguments = Parameters<typeof beginWeekly> extends [unknown, ...infer Rest] ? Rest : never;
