import { afterEach, expect } from 'vitest';
import type { BrakeRequest } from '../../../src/contract/brakes.js';
import type { SimulatedTime } from '../simulated-time.js';
import { answers, beginFlow, DAY, inputOf } from './context.js';

export const ADA = { who: 'Ada', why: 'charges twice' };
export const BRAKED = expect.stringMatching(/business unit "default" is braked since 20.*Z by Ada: charges twice/);

/** Brakes and releases units as an operator does; every unit is released after each test. */
export function braking(time: SimulatedTime) {
  const release = async (businessUnit = 'default') => {
    const after = await time.holdfast.brakes.release({ businessUnit, who: 'Bob', why: 'mended' });
    await time.simulation.readBrakes();
    return after;
  };
  afterEach(async () => {
    for (const { businessUnit } of (await time.holdfast.brakes.list()).braked) await release(businessUnit);
  });
  const brake = async (request: Partial<BrakeRequest> = {}) => {
    const after = await time.holdfast.brakes.brake({ businessUnit: 'default', ...ADA, ...request });
    await time.simulation.readBrakes();
    return after;
  };
  return { brake, release };
}

/** A flow whose card can't be stored, and which owes the refund of its consent. The unit is braked before that is sent. */
export async function beginOwing(time: SimulatedTime, brake: ReturnType<typeof braking>['brake']) {
  const refused = await time.sandbox.addFault(answers(400, 'POST', '*/payment-methods/*'));
  const charging = time.hold('createCharge');
  const flow = await beginFlow(time, 'storeCard', await inputOf(time, 'storeCard', { onNotStored: 'undo' }));
  await charging.reached;
  charging.release();
  await brake({ refunds: true });
  await time.passUntil(flow.startedAt + 2 * DAY);
  return { flow, canStore: async () => await time.sandbox.removeFault(refused.id) };
}
