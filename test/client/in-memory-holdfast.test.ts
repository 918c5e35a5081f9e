import { describe, expect, test } from 'vitest';
import { InMemoryHoldfast } from '../../tools/testing/in-memory-holdfast.js';

const UNCONFIRMED = { status: 'declined', confirmed: false } as const;
const INPUT = {
  reference: 'order-7',
  amount: 6_000,
  currency: 'EUR',
  paymentMethod: { type: 'tokenized', token: '3f0d1c52-9f5e-4a39-8b8e-5d1a7f0c2b11' },
} as const;
const refund = { payment: 'order-7' };

describe('the client in memory', () => {
  test('lets a refund wait for one whose outcome is unknown, and moves no more than was taken', async () => {
    const holdfast = new InMemoryHoldfast().plan('a', { status: 'unknown' }, { status: 'succeeded' });
    await holdfast.charge(INPUT);
    const first = () => holdfast.refund({ ...refund, commandId: 'a', amount: 2_500 });
    const second = () => holdfast.refund({ ...refund, commandId: 'b', amount: 6_000 });
    expect(await first()).toMatchObject({ status: 'unknown', amount: 2_500 });
    expect(await second()).toMatchObject({ status: 'unknown', amount: 6_000 });
    // The one that was under way is never refused, whatever came after it.
    expect(await first()).toMatchObject({ status: 'succeeded', amount: 2_500 });
    await expect(second()).rejects.toMatchObject({ type: 'InvalidInput' });
    expect(holdfast.moneyMoved('order-7')).toBe(3_500);
  });

  test('keeps the amount of a command that was taken before others changed what is left', async () => {
    const holdfast = new InMemoryHoldfast().plan('a', { status: 'unknown' }, { status: 'succeeded' });
    await holdfast.authorize(INPUT);
    expect(await holdfast.capture('order-7', { commandId: 'a' })).toMatchObject({ status: 'unknown', amount: 6_000 });
    await expect(holdfast.void('order-7')).rejects.toMatchObject({ type: 'StateConflict' });
    await expect(holdfast.capture('order-7', { commandId: 'b' })).rejects.toMatchObject({ type: 'StateConflict' });
    expect(await holdfast.capture('order-7', { commandId: 'a' })).toMatchObject({ status: 'succeeded', amount: 6_000 });
  });

  test('sends no second capture after one that may have taken the money, and voids the hold', async () => {
    const holdfast = new InMemoryHoldfast().plan('a', UNCONFIRMED);
    await holdfast.authorize(INPUT);
    const failed = { status: 'declined', confirmed: false, retryable: 'nobody' };
    expect(await holdfast.capture('order-7', { commandId: 'a', amount: 1_000 })).toMatchObject(failed);
    await expect(holdfast.capture('order-7', { amount: 1_000 })).rejects.toMatchObject({ type: 'StateConflict' });
    expect(await holdfast.void('order-7')).toMatchObject({ status: 'succeeded' });
    expect(holdfast.moneyMoved('order-7')).toBe(0);
  });

  test('counts a refund that may have been made', async () => {
    const holdfast = new InMemoryHoldfast().plan('a', UNCONFIRMED);
    await holdfast.charge(INPUT);
    await holdfast.refund({ ...refund, commandId: 'a', amount: 5_000 });
    await expect(holdfast.refund({ ...refund, amount: 2_000 })).rejects.toMatchObject({ type: 'InvalidInput' });
    expect(await holdfast.refund(refund)).toMatchObject({ status: 'succeeded', amount: 1_000 });
  });

  test('refuses another currency or business unit than that of the payment whose id is given', async () => {
    const holdfast = new InMemoryHoldfast();
    const { paymentId: payment = '' } = (await holdfast.charge(INPUT)) as { paymentId?: string };
    for (const [named, fault] of [
      [{ currency: 'JPY' }, `currency: payment ${payment} is in EUR, not in JPY`],
      [{ businessUnit: 'eu' }, `businessUnit: payment ${payment} is of "default", not of "eu"`],
    ] as const) {
      const refused = holdfast.refund({ payment: { payment, ...named } });
      await expect(refused).rejects.toMatchObject({ type: 'InvalidInput', faults: [fault] });
    }
    const own = { payment, currency: 'EUR', businessUnit: 'default' };
    expect(await holdfast.refund({ payment: own })).toMatchObject({ status: 'succeeded' });
  });

  test('does not say that nothing is held where nobody has confirmed that', async () => {
    const holdfast = new InMemoryHoldfast().plan('order-7', { status: 'pending' }, UNCONFIRMED);
    await holdfast.authorize(INPUT);
    expect(await holdfast.void('order-7', { commandId: 'v' })).toMatchObject({ status: 'unknown' });
    await expect(holdfast.void('order-7', { commandId: 'v' })).rejects.toMatchObject({ type: 'StateConflict' });
  });

  test('does not capture at once what an early void is letting go of', async () => {
    const later = [{ status: 'pending' }, { status: 'succeeded' }] as const;
    const holdfast = new InMemoryHoldfast().plan('order-7', ...later).plan('v', ...later);
    const authorize = () => holdfast.authorize({ ...INPUT, captureMode: 'auto' });
    await authorize();
    expect(await holdfast.void('order-7', { commandId: 'v' })).toMatchObject({ status: 'unknown' });
    expect(await authorize()).toMatchObject({ status: 'pending' });
    expect(await authorize()).toMatchObject({ status: 'voided' });
    expect(holdfast.moneyMoved('order-7')).toBe(0);
  });

  test('does not carry out a void that waits behind a refund when the hold is asked for', async () => {
    const holdfast = new InMemoryHoldfast().plan('a', { status: 'pending' });
    await holdfast.authorize(INPUT);
    await holdfast.capture('order-7');
    await holdfast.refund({ ...refund, commandId: 'a', amount: 2_500 });
    expect(await holdfast.void('order-7', { commandId: 'v' })).toMatchObject({ status: 'unknown' });
    expect(await holdfast.authorize(INPUT)).toMatchObject({ status: 'captured', capturedAmount: 6_000 });
    expect(await holdfast.void('order-7', { commandId: 'v' })).toMatchObject({ status: 'unknown' });
    expect(holdfast.moneyMoved('order-7')).toBe(6_000);
  });

  test('refunds of one capture what is left of that', async () => {
    const holdfast = new InMemoryHoldfast();
    await holdfast.authorize({ ...INPUT, amount: 20_000 });
    const { transactionId: captureId = '' } = await holdfast.capture('order-7', { amount: 6_000 });
    await holdfast.capture('order-7', { amount: 8_000 });
    await expect(holdfast.refund({ ...refund, captureId, amount: 7_000 })).rejects.toMatchObject({
      type: 'InvalidInput',
    });
    expect(await holdfast.refund({ ...refund, captureId })).toMatchObject({ status: 'succeeded', amount: 6_000 });
    await expect(holdfast.refund({ ...refund, captureId })).rejects.toMatchObject({ type: 'StateConflict' });
    const unknown = { ...refund, captureId: INPUT.paymentMethod.token };
    await expect(holdfast.refund(unknown)).rejects.toMatchObject({ type: 'InvalidInput' });
    expect(holdfast.moneyMoved('order-7')).toBe(8_000);
  });

  test.each([
    [{}, { category: 'payment_method_declined', retryable: 'newReference', confirmed: true }],
    [{ subCategory: 'lost_stolen_card' }, { subCategory: 'lost_stolen_card', retryable: 'newCard' }],
    [{ category: 'provider_authentication_error' }, { retryable: 'nobody', confirmed: true }],
  ])('says of a decline that is planned with %j how it may be retried, as a flow does', async (plan, told) => {
    const holdfast = new InMemoryHoldfast().plan('order-7', { status: 'declined', ...plan });
    expect(await holdfast.charge(INPUT)).toMatchObject({ status: 'declined', ...told });
  });

  test('tells each caller anew: who changes what it was told changes nothing else', async () => {
    const holdfast = new InMemoryHoldfast();
    const told = await holdfast.charge(INPUT);
    Object.assign(told, { status: 'declined' });
    Object.assign((told as { evidence: object }).evidence, { attempts: 7 });
    expect(await holdfast.charge(INPUT)).toMatchObject({ status: 'succeeded', evidence: { attempts: 1 } });
  });
});
