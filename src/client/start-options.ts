import type { SearchAttributePair } from '@temporalio/common';
import { defineSearchAttributeKey, SearchAttributeType } from '@temporalio/common';
import { MEMO_KEYS } from '../contract/names.js';
import { showMoney } from '../domain/show-money.js';

/** Marks the flows that were started with reuse policy "reject duplicate" by this client. */
const STARTED_BY = 'holdfast-client';

export const keyword = (name: string) => defineSearchAttributeKey(name, SearchAttributeType.KEYWORD);

/** Set at the start because it is free there; a later write is a billable action. */
export function startAttributes(input: {
  amount: number;
  currency: string;
  businessUnit: string;
}): SearchAttributePair[] {
  return [
    { key: keyword('PaymentStatus'), value: 'started' },
    { key: keyword('WaitingFor'), value: 'provider' },
    { key: keyword('BusinessUnit'), value: input.businessUnit },
    { key: keyword('Currency'), value: input.currency },
    { key: defineSearchAttributeKey('AmountMinor', SearchAttributeType.INT), value: input.amount },
  ];
}

export function startMemo(fingerprintOfInput: string): Record<string, string> {
  return { [MEMO_KEYS.fingerprint]: fingerprintOfInput, [MEMO_KEYS.startedBy]: STARTED_BY };
}

/** "Charge 10.95 USD, order-1001": the flow's title in Temporal UI. */
export function summaryOf(what: string, input: { amount: number; currency: string; reference: string }): string {
  return `${what} ${showMoney(input.amount, input.currency)}, ${input.reference}`;
}
