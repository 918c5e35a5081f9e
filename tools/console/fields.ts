import { z } from 'zod';
import { HoldfastError } from '../../src/client/index.js';
import { isCurrency } from '../../src/contract/currencies.js';
import { decimalToMinorUnits } from '../../src/domain/money.js';

export const shortText = z.string().min(1).max(100);

/**
 * Minor units of what a person has typed, exactly.
 * @throws HoldfastError `InvalidInput`
 */
export function minorUnits(decimal: string, currency: string): number {
  if (!isCurrency(currency)) throw invalid(`currency: ${JSON.stringify(currency)} is no code of ISO 4217`);
  try {
    return decimalToMinorUnits(decimal.trim(), currency);
  } catch (error) {
    throw invalid(`amount: ${(error as Error).message}`);
  }
}

function invalid(fault: string): HoldfastError {
  return new HoldfastError('InvalidInput', 'Nothing was sent', [fault]);
}
