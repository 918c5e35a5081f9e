import type { FlowFacts } from '../../contract/reconcile.js';
import { showMoney } from '../money.js';
import type { Claim } from './account.js';
import type { Row } from './match.js';

export const iso = (time: number): string => new Date(time).toISOString();
export const nameOf = ({ workflowId, kind }: Claim): string => `${workflowId}-${kind ?? 'transaction'}`;
export const sayAsked = ({ amount, currency }: FlowFacts): string => sayMoney(amount, currency) ?? 'an unknown sum';

export function sayRow({ kind, amount, currency, status, transactionId }: Row): string {
  const sum = sayMoney(amount, currency);
  const of = transactionId === undefined ? '' : ` ${transactionId}`;
  return `a ${kind}${of}${sum === undefined ? '' : ` over ${sum}`} as ${status}`;
}

export function sayClaim({ kind, amount, currency, transactionId }: Claim): string {
  const sum = sayMoney(amount, currency);
  return `its ${kind ?? 'transaction'}${transactionId === undefined ? '' : ` ${transactionId}`}${sum === undefined ? '' : ` over ${sum}`}`;
}

function sayMoney(amount: number | undefined, currency: string | undefined): string | undefined {
  if (amount === undefined) return undefined;
  try {
    return showMoney(amount, currency ?? '');
  } catch {
    return `${amount} minor units`;
  }
}

export function days(ms: number): string {
  const hours = Math.floor(ms / 3_600_000);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}
