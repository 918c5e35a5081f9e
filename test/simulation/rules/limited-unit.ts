import { afterAll, beforeAll } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { beginActions, ledgerRows } from '../../support/virtual-flows.js';
import type { SimulatedTime } from '../simulated-time.js';
import type { SimulatedWorker } from '../worker/worker.js';
import { beginFlow, DAY, HOUR, inputOf } from './context.js';

const OUTGOING = { perCall: { USD: 6_000 }, perDay: { USD: 15_000 }, refundsPerCard: 3, approveWithin: '2 days' };

/** RESET_REAPPLY_EXCLUDE_TYPE_UPDATE. */
export const UPDATES = 2;
export const GRACE = { who: 'Grace', why: 'case 17' };

export const flowOf = (workflowId: string) => ({ workflowId });
/** The flow that counts what was sent on the day of that time. */
export const counterOf = (at: number) => ({
  workflowId: `outgoing-default-${new Date(at).toISOString().slice(0, 10)}`,
});

/** The worker of a file's tests has a unit that limits what it sends to cards. */
export function limitedUnit(time: SimulatedTime) {
  let worker: SimulatedWorker | undefined;
  const work = (outgoing?: object, env: object = {}): SimulatedWorker => {
    const unit = { ...DEFAULT_UNIT, ...(outgoing && { outgoing }) };
    return time.simulation.startWorker({
      env: { HOLDFAST_BUSINESS_UNITS: JSON.stringify({ default: unit }), ...env },
    });
  };
  beforeAll(async () => {
    await time.stopWorker();
    worker = work(OUTGOING);
  });
  afterAll(async () => {
    await worker?.stop();
  });
  return {
    pass: async (ms: number): Promise<void> => await time.passUntil((await time.now()) + ms),
    /** An hour after the next midnight in UTC: nothing is counted there yet. */
    newDay: async (): Promise<number> => {
      const at = (Math.floor((await time.now()) / DAY) + 1) * DAY + HOUR;
      await time.passUntil(at);
      return at;
    },
    /** A payment that a flow has charged, and the commands to it. */
    charged: async (currency = 'USD') => {
      const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge', { amount: 12_000, currency }));
      const { paymentId = '' } = await flow.outcome();
      const actions = await beginActions(time, { paymentId, currency, paymentReference: flow.reference });
      return { actions, paymentId, reference: flow.reference, moved: () => ledgerRows(time, paymentId) };
    },
    /** From now on its worker has these variables too. */
    configure: async (env: object): Promise<void> => {
      await worker?.stop();
      worker = work(OUTGOING, env);
    },
    liftLimits: async (): Promise<void> => {
      await worker?.stop();
      worker = work();
    },
  };
}
