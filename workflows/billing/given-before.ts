import { fingerprint, MAX_COMMAND_ID } from '../../src/contract/idempotency.js';
import type { GivenBefore } from '../../src/contract/subscription-bills.js';
import type { Billing } from './state.js';

type PaidBill = Billing['billed'][number];

/** The answers of one that has ended; undefined while it has not. */
export function givenBefore(flow: Billing): GivenBefore | undefined {
  const { ended, answered, refunding = [] } = flow;
  if (ended === undefined) return undefined;
  const refunds = refunding.flatMap(({ commandId, payment, request }) => {
    const bill = billToRefund(flow, payment, undefined);
    if (bill === undefined) return [];
    return [{ commandId, ...(request !== undefined && { request }), of: refundOf(flow, commandId, bill) }];
  });
  return { ended, answered, refunds };
}

/** @param begun reference of the payment that the command was begun for */
export function billToRefund(
  { billed }: Billing,
  begun: string | undefined,
  period: number | undefined,
): PaidBill | undefined {
  if (begun !== undefined) return billed.find(({ paymentReference }) => paymentReference === begun);
  return period === undefined ? billed.at(-1) : billed.find((one) => one.period === period);
}

/** By what a refund is found at the payment of the bill. */
export function refundOf(flow: Billing, commandId: string, { paymentReference: payment, paymentId }: PaidBill) {
  const { currency, businessUnit } = flow.input;
  return { payment, paymentId, currency, businessUnit, commandId: refundCommandId(flow, commandId, payment) };
}

/** Two commands must never become the same one because an id is cut. */
function refundCommandId({ workflowId, input }: Billing, commandId: string, payment: string): string {
  const whole = `${workflowId}:${commandId}`;
  if (whole.length <= MAX_COMMAND_ID) return whole;
  const { currency, businessUnit } = input;
  return fingerprint({ type: whole, reference: payment, amount: 0, currency, businessUnit });
}
