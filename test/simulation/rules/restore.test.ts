import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  businessUnitsSetting,
  HOSTILE_UNITS,
  offersNoReads,
  PLAIN_UNIT,
  type ProfileUnit,
  withRisk,
} from '../../../tools/stack/profile-units.js';
import { BILLING_TASK_QUEUE, PAYMENTS_TASK_QUEUE } from '../../../src/contract/names.js';
import { CARDS } from '../../support/charges.js';
import { everyNth, fullOr, inTurn } from '../../support/counts.js';
import { movements } from '../../support/payments.js';
import { begin, beginHeld, reviewedInput, SPECS } from '../../support/virtual-flows.js';
import { type SimulatedTime, startSimulatedTime } from '../simulated-time.js';
import { DAY, DONE, FLOW_TYPES, type FlowType, HOUR, inputOf, MINUTE, OPERATOR } from './context.js';
import {
  askFor,
  askUntilKnown,
  endedFlow as endedFlowOf,
  isIn,
  restore as restoreOf,
  type Restoring,
  type Taken,
  taken as takenOf,
} from './restored.js';
import { beginWeekly } from './weekly.js';

const CHECKS_FIRST = 'checks-before-keys';
const UNITS = [PLAIN_UNIT, ...HOSTILE_UNITS].map(withRisk);

let time: SimulatedTime;
beforeAll(async () => {
  const env = { HOLDFAST_BUSINESS_UNITS: businessUnitsSetting(UNITS) };
  time = await startSimulatedTime(
    {},
    { units: UNITS, worker: { env, queues: [PAYMENTS_TASK_QUEUE, BILLING_TASK_QUEUE] } },
  );
});
afterAll(() => time?.close());

const taken = (): Taken => takenOf(time);
const restore = (state: Taken, how?: Restoring): Promise<void> => restoreOf(time, state, how);

const ask = (type: FlowType, input: object): Promise<{ status: string }> => askFor(time, type, input);
const askedUntilKnown = (type: FlowType, input: object): Promise<string> => askUntilKnown(time, type, input);

/** A flow of that type from its start to its end, and every state that the database had meanwhile. */
async function endedFlow(type: FlowType, unit: ProfileUnit) {
  const { token } = await time.sandbox.tokenize({ cardNumber: CARDS.succeeds, publicKey: unit.publicKey });
  const paymentMethod = { type: 'tokenized', token };
  return await endedFlowOf(time, type, await inputOf(time, type, { businessUnit: unit.name, paymentMethod }));
}

const MOVING = FLOW_TYPES.filter((type) => DONE[type].length > 0);
const sampled = fullOr(1, 0) === 1 ? UNITS : UNITS.filter(({ name }) => name === CHECKS_FIRST);
const cases = sampled.flatMap((unit) => FLOW_TYPES.map((type) => [type, unit.name, unit] as const));

describe.each(cases.filter((_, index) => inTurn(5)(index)))('a %s at the service "%s"', (type, _name, unit) => {
  const isTaken = everyNth(fullOr(2, 8));
  /** Without reads an operator has to say what was done. */
  const orUnknown = offersNoReads(unit) ? ['unknown'] : [];

  test('moves money once, and is answered as before, from whichever state a restore brings back', async () => {
    const { input, status, states } = await endedFlow(type, unit);
    for (const [index, state] of states.entries()) {
      if (index > 0 && !isTaken(index)) continue;
      await time.passUntil(Date.now() + MINUTE);
      await restore(state);
      expect(await ask(type, input)).toMatchObject({ status });
      expect(await movements(time, input.reference)).toEqual(DONE[type]);
    }
  });

  if (!MOVING.includes(type)) return;

  test('moves money once from those states when the keys of the lost time are forgotten', async () => {
    const { input, status, states } = await endedFlow(type, unit);
    // What the backup has nothing of is asked for under keys that nobody remembers: see the statement.
    const begun = states.filter((state) => isIn(state, input));
    const some = begun.filter((_, index) => everyNth(Math.min(fullOr(2, 8), begun.length))(index));
    expect(some.length).toBeGreaterThan(0);
    for (const state of some) {
      await restore(state, { downFor: 25 * HOUR });
      expect([status, 'unknown']).toContain(await askedUntilKnown(type, input));
      expect(await movements(time, input.reference)).toEqual(DONE[type]);
    }
  });

  test('is found again by the statement, however late it is asked for', async () => {
    const { input, status, states } = await endedFlow(type, unit);
    for (const [index, state] of states.entries()) {
      if (index > 1 && !isTaken(index)) continue;
      await restore(state, { downFor: 3 * DAY, statement: true });
      // One that was looking for its customer does not look again, and says so.
      const without = type === 'storeCard' && isIn(state, input) ? ['consentedNotStored'] : [];
      expect([status, ...orUnknown, ...without]).toContain(await askedUntilKnown(type, input));
      expect(await movements(time, input.reference)).toEqual(DONE[type]);
    }
  });
});

const HELD = 'authorization Succeed 6000 USD';
const CAPTURED = 'capture Succeed 6000 USD';

describe('after a restore from before, with the keys of the lost time forgotten,', () => {
  test('a hold that its deadline captured in the lost time is not captured again', async () => {
    const hold = await beginHeld(time, { onDeadline: 'capture', captureDeadline: '2 hours' });
    const state = taken();
    expect(await hold.outcome()).toMatchObject({ status: 'captured' });
    await restore(state, { downFor: 26 * HOUR });
    expect(await hold.outcome()).toMatchObject({ status: 'captured' });
    expect(await movements(time, hold.reference)).toEqual([HELD, CAPTURED]);
  });

  test.each(fullOr(MOVING, MOVING.slice(0, 1)))(
    'a %s that was about to be sent is not said to be never sent',
    async (type) => {
      // A payment that comes slowly is not charged within the first task.
      await time.sandbox.addFault({ action: 'delay', delay_ms: 4_000, method: 'POST', path: '/payments', times: 1 });
      const { input, status, states } = await endedFlow(type, PLAIN_UNIT);
      for (const state of states) {
        if (!isIn(state, input)) continue;
        await restore(state, { downFor: 23 * HOUR });
        expect([status, 'unknown']).toContain(await askedUntilKnown(type, input));
        expect(await movements(time, input.reference)).toEqual(DONE[type]);
      }
    },
  );

  test('a review whose time is over now is not declined where it was charged in the lost time', async () => {
    const risk = { when: 'before', reviewTimeLimit: '1 hour' };
    const flow = await begin(time, SPECS.charge(await reviewedInput(time, { risk })));
    await time.passUntil(Date.now() + MINUTE);
    const state = taken();
    await flow.ask('decideReview', { ...OPERATOR, decision: 'approve' });
    const { transactionId } = await flow.outcome();
    await restore(state, { downFor: 26 * HOUR });
    expect(await flow.outcome()).toMatchObject({ status: 'succeeded', transactionId });
    expect(await movements(time, flow.reference)).toEqual(['charge Succeed 6000 USD']);
  });
});

test('a period that was billed in the lost time is billed once while the service knows its keys', async () => {
  const { flow, reach, tried } = await beginWeekly(time, { periods: 1 });
  await reach(0, 9);
  const state = taken();
  await reach(0, 12);
  await restore(state);
  expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
});
