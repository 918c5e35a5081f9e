import type { FinalChargeOutcome } from '../../../../src/contract/charge.js';
import { chargeShaped } from '../../../../workflows/charge.js';

export async function charge(input: unknown): Promise<FinalChargeOutcome> {
  return await chargeShaped([input], { payment: true, charge: true });
}
