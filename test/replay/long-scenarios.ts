import type { FaultInput } from '../../sandbox/control.js';
import { HOUR, type StartedCharge, type VirtualTime } from '../support/virtual-time.js';
import type { OneRun } from './scenarios.js';

const PAYMENTS_DOWN: FaultInput = { action: 'status', status: 503, method: 'POST', path: '/payments' };
const CHARGES_DOWN: FaultInput = { action: 'status', status: 503, method: 'POST', path: '*/charges' };
const REPLIES_LOST: FaultInput = { action: 'drop_reply', method: 'POST', path: '*/charges' };
const LISTS_DOWN: FaultInput = { action: 'status', status: 503, method: 'GET', path: '*/charges' };
const STAYS_PENDING: FaultInput = { action: 'result', status: 'Pending', path: '*/charges' };
const NETWORK_ERROR: FaultInput = {
  action: 'result',
  status: 'Failed',
  category: 'provider_network_error',
  path: '*/charges',
};

/** Runs one flow for hours of skipped time, to its end, and answers its workflow id, or which run of it is meant. */
export type LongScenario = (time: VirtualTime) => Promise<string | OneRun>;

/** The endings that take hours; the same rules as for `SCENARIOS`. Short windows (a CVV's) keep them small. */
export const LONG_SCENARIOS: Readonly<Record<string, LongScenario>> = {
  'charge-not-executed-absence-proven': async (time) => ended(await begun(time, CHARGES_DOWN, { cvv: '737' })),
  'charge-not-executed-never-taken-up': async (time) => {
    const input = await time.input();
    await time.stopWorker();
    const charge = await time.start(input);
    await time.passUnserved(charge.startedAt + 21 * HOUR);
    await time.startWorker();
    return ended(charge);
  },
  'charge-not-executed-payment-never-created': async (time) => ended(await begun(time, PAYMENTS_DOWN)),
  'charge-declined-provider-unreachable': async (time) => ended(await begun(time, NETWORK_ERROR)),
  'charge-succeeded-found-after-the-window': async (time) => {
    const lists = await time.sandbox.addFault(LISTS_DOWN);
    const charge = await begun(time, REPLIES_LOST, { cvv: '737' });
    await time.passUntil(charge.startedAt + 4 * HOUR);
    await time.sandbox.removeFault(lists.id);
    return ended(charge);
  },
  'charge-pending-for-days-then-poll': async (time) => {
    const charge = await begun(time, STAYS_PENDING);
    await time.passUntil(charge.startedAt + 30 * HOUR);
    const { transactionId = '' } = await charge.status();
    await time.sandbox.complete(transactionId, { status: 'Succeed' });
    return ended(charge);
  },
};

async function begun(time: VirtualTime, fault: FaultInput, card: { cvv?: string } = {}): Promise<StartedCharge> {
  const input = await time.input(card);
  await time.sandbox.addFault({ ...fault, reconciliation_id: input.reference });
  return await time.start(input);
}

async function ended(charge: StartedCharge): Promise<string> {
  await charge.outcome();
  return charge.workflowId;
}
