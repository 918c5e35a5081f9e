import { row } from './campaign.js';

/** Of two, no and three decimals: an amount that is taken for one of another currency is off by ten or a thousand. */
const CURRENCIES = ['USD', 'JPY', 'KWD'] as const;

/** They go by the number, and move on each time that what else goes by it begins again, after every `turn`. */
export function currencyOf(number: number, turn: number): string {
  return CURRENCIES[(number + Math.floor(number / turn)) % CURRENCIES.length] ?? CURRENCIES[0];
}

/** How often each of them was asked for. */
export function currencyLines(asked: readonly { currency: string }[]): string[] {
  const ofCurrency = (code: string): number => asked.filter(({ currency }) => currency === code).length;
  return [
    'in currencies of two, no and three decimals',
    ...CURRENCIES.map((code) => row(`  ${code}`, ofCurrency(code))),
  ];
}
