import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CARDS, chargeInput } from '../support/charges.js';
import { flowProblems } from '../support/flow-health.js';
import { authorizeInput, movements } from '../support/payments.js';
import { startStack, type TestStack } from '../support/stack.js';

let stack: TestStack;
beforeAll(async () => {
  stack = await startStack({ pendingMs: 500 });
});
afterAll(async () => {
  await stack?.close();
});

/** Amounts travel as decimals of the major unit, so that a wrong number of decimals is off by ten or a thousand. */
const CURRENCIES = [
  { currency: 'JPY', of: 'no decimals', whole: '20001 JPY', rest: '14000 JPY', tooMuch: '14001 JPY' },
  { currency: 'KWD', of: 'three decimals', whole: '20.001 KWD', rest: '14.000 KWD', tooMuch: '14.001 KWD' },
] as const;
const WHOLE = 20_001;
const PART = 6_001;

describe.each(CURRENCIES)('in $currency, of $of', ({ currency, whole, rest, tooMuch }) => {
  test('a charge takes what was asked for, and its refunds refund that and no more', async () => {
    const input = await chargeInput(stack.sandbox, CARDS.succeeds, { amount: WHOLE, currency });
    const { reference } = input;
    const charged = await stack.holdfast.charge(input);
    expect(charged).toMatchObject({ status: 'succeeded', amount: WHOLE, currency });
    expect(await stack.holdfast.explain(reference)).toContain(`Charge of ${whole}`);
    const refund = (amount: number, name: string) =>
      stack.holdfast.refund({ payment: reference, amount, reference: `${reference}-${name}` });
    expect(await refund(PART, 'r1')).toMatchObject({ status: 'succeeded', amount: PART, currency });
    await expect(refund(WHOLE - PART + 1, 'r2')).rejects.toMatchObject({
      type: 'InvalidInput',
      message: expect.stringContaining(`${tooMuch} is more than the ${rest} left to refund`),
    });
    expect(await refund(WHOLE - PART, 'r3')).toMatchObject({ status: 'succeeded', amount: WHOLE - PART, currency });
    const ledger = await stack.sandbox.ledger();
    const ofPayment = ledger.filter(({ payment_id }) => payment_id === charged.paymentId);
    expect(ofPayment.map(({ kind, status, amount, currency: code }) => [kind, status, amount, code].join(' '))).toEqual(
      [`charge Succeed 20001 ${currency}`, `refund Succeed 6001 ${currency}`, `refund Succeed 14000 ${currency}`],
    );
  });

  test('a hold is of what was asked for, and its capture takes a part of it', async () => {
    const input = await authorizeInput(stack, CARDS.succeeds, { amount: WHOLE, currency });
    const { reference } = input;
    expect(await stack.holdfast.authorize(input)).toMatchObject({ status: 'authorized', amount: WHOLE, currency });
    await expect(stack.holdfast.capture(reference, { amount: WHOLE + 1 })).rejects.toMatchObject({
      type: 'InvalidInput',
      message: expect.stringContaining(`more than the ${whole}`),
    });
    const captured = await stack.holdfast.capture(reference, { amount: PART });
    expect(captured).toMatchObject({ status: 'succeeded', amount: PART, currency });
    expect(await movements(stack, reference)).toEqual([
      `authorization Succeed 20001 ${currency}`,
      `capture Succeed 6001 ${currency}`,
    ]);
  });
});

test('no workflow task failed in any of this', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
