import { afterEach, expect } from 'vitest';
import type { BrakeRequest } from '../../../src/contract/brakes.js';
import type { SimulatedTime } from '../simulated-time.js';

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
