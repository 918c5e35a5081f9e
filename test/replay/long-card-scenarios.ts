import type { AuthorizeInput } from '../../src/contract/authorize.js';
import type { StoreCardInput } from '../../src/contract/cards.js';
import type { FaultInput } from '../../sandbox/control.js';
import { storedInSkippedTime, storeInput } from '../support/cards.js';
import { begin, beginHeld, SPECS } from '../support/virtual-flows.js';
import { HOUR, type VirtualTime } from '../support/virtual-time.js';
import type { LongScenario } from './long-scenarios.js';

const DAY = 24 * HOUR;
const DECLINED: FaultInput = { action: 'result', status: 'Failed', category: 'payment_method_declined' };
const down = (path: string): FaultInput => ({ action: 'status', status: 503, method: 'POST', path });
const CARD = '*/payment-methods/*';
const REFUSED: FaultInput = { action: 'status', status: 400, method: 'POST', path: CARD, times: 1 };
const BY_CHARGE = { consent: { by: 'charge' } } as const;

/** Stored cards over hours of skipped time; the same rules as for `SCENARIOS`. */
export const LONG_CARD_SCENARIOS: Readonly<Record<string, LongScenario>> = {
  'store-card-void-declined-at-first': (time) => stored(time, {}, [{ ...DECLINED, path: '*/voids', times: 4 }]),
  'store-card-not-stored-token-expired': (time) => stored(time, {}, [down(CARD)]),
  'store-card-refunded-after-declines': (time) =>
    stored(time, BY_CHARGE, [REFUSED, { ...DECLINED, path: '*/refunds', times: 2 }]),
  'store-card-not-refunded': (time) => stored(time, BY_CHARGE, [REFUSED, { ...DECLINED, path: '*/refunds' }]),
  'store-card-not-executed-customer-never-made': (time) => stored(time, {}, [down('/customers')]),
  'store-card-not-executed-absence-proven': (time) => stored(time, {}, [down('*/authorizations')]),
  'store-card-consent-read-late': async (time) => {
    const unread: FaultInput = { action: 'status', status: 503, method: 'GET', path: '*/authorizations/*' };
    const { flow, lift } = await storing(time, {}, [unread]);
    await time.passUntil(flow.startedAt + HOUR);
    await lift();
    await flow.outcome();
    return flow.workflowId;
  },
  'authorize-reauthorized-at-the-deadline': async (time) => {
    const hold = await beginHeld(time, await storedHold(time, { onDeadline: 'reauthorize' }));
    await hold.outcome();
    return hold.workflowId;
  },
  'authorize-reauthorized-after-it-lapsed': async (time) => {
    const hold = await beginHeld(time, await storedHold(time));
    const fault = await time.sandbox.addFault({ ...DECLINED, path: '*/voids', reconciliation_id: hold.reference });
    await time.passUntil(hold.startedAt + 5 * DAY + 20 * HOUR);
    await hold.command('reauthorize');
    await time.passUntil(hold.startedAt + 7 * DAY + 2 * HOUR);
    await time.sandbox.removeFault(fault.id);
    await hold.ask('capture');
    await hold.outcome();
    return hold.workflowId;
  },
};

async function storing(time: VirtualTime, overrides: Partial<StoreCardInput>, faults: readonly FaultInput[]) {
  await time.input();
  const input = await storeInput(time, overrides);
  const planted: { id: string }[] = [];
  for (const fault of faults) {
    const ofPayment = /authorizations|voids|refunds/.test(fault.path ?? '');
    planted.push(await time.sandbox.addFault({ ...fault, ...(ofPayment && { reconciliation_id: input.reference }) }));
  }
  const flow = await begin(time, SPECS.storeCard(input));
  // Customers and cards have no reconciliation id: what is planted for them must not meet the next scenario.
  const lift = () => Promise.all(planted.map(({ id }) => time.sandbox.removeFault(id).catch(() => undefined)));
  return { flow, lift };
}

async function stored(
  time: VirtualTime,
  overrides: Partial<StoreCardInput>,
  faults: readonly FaultInput[],
): Promise<string> {
  const { flow, lift } = await storing(time, overrides, faults);
  await flow.outcome().catch(() => undefined);
  await lift();
  return flow.workflowId;
}

async function storedHold(
  time: VirtualTime,
  overrides: Partial<AuthorizeInput> = {},
): Promise<Partial<AuthorizeInput>> {
  const card = await storedInSkippedTime(time);
  return { ...card, cardOnFile: { entryMode: 'cof_merchant_initiated_transaction' }, ...overrides };
}
