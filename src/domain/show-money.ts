import { minorUnitsToDecimal } from './money.js';

/** "10.95 USD": for people only, never parsed. `amount` is in minor units. */
export function showMoney(amount: number, currency: string): string {
  return `${minorUnitsToDecimal(amount, currency)} ${currency}`;
}
