import { expect, test } from 'vitest';
import { movements } from '../../support/payments.js';
import { beginHeld, ledgerRows } from '../../support/virtual-flows.js';
import { beginFlow, inputOf, sharedTime } from './context.js';

const time = sharedTime();

/** The sums that were named to the service, one for each POST; undefined: none. */
function sums(paymentId: string | undefined, kind: string): unknown[] {
  return time.requests
    .operations(paymentId, kind)
    .map(({ body }) => (JSON.parse(body ?? '{}') as { amount?: unknown }).amount);
}

test('a hold that is captured whole names no sum to the service, a part of it does', async () => {
  const whole = await beginFlow(time, 'authorizeAndCapture', await inputOf(time, 'authorizeAndCapture'));
  const { paymentId } = await whole.outcome();
  expect(sums(paymentId, 'captures')).toEqual([undefined]);
  expect(await movements(time, whole.reference)).toEqual([
    'authorization Succeed 6000 USD',
    'capture Succeed 6000 USD',
  ]);

  const part = await beginHeld(time);
  await time.holdfast.capture(part.reference, { amount: 5_500 });
  expect(sums((await part.status()).paymentId, 'captures')).toEqual([5_500]);
});

test('a refund names what was asked for, and from the second one on what is left', async () => {
  const refunded = async (...asked: (number | undefined)[]) => {
    const charge = await beginFlow(time, 'charge', await inputOf(time, 'charge', { amount: 9_000 }));
    const { paymentId = '' } = await charge.outcome();
    for (const amount of asked)
      await time.holdfast.refund({ payment: charge.reference, ...(amount !== undefined && { amount }) });
    return { sums: sums(paymentId, 'refunds'), moved: (await ledgerRows(time, paymentId)).slice(1) };
  };
  expect(await refunded(undefined)).toEqual({ sums: [undefined], moved: ['refund Succeed 9000 USD'] });
  expect(await refunded(9_000)).toEqual({ sums: [9_000], moved: ['refund Succeed 9000 USD'] });
  expect(await refunded(4_000, undefined)).toEqual({
    sums: [4_000, 5_000],
    moved: ['refund Succeed 4000 USD', 'refund Succeed 5000 USD'],
  });
});

test('nothing that nobody asked for is told of a capture, void or refund, but what finds it again', async () => {
  const fieldsOf = (paymentId: string | undefined, kind: string) =>
    time.requests
      .operations(paymentId, kind)
      .map(({ body }) => Object.keys(JSON.parse(body ?? '{}') as object).toSorted());
  const OURS = ['additional_details', 'reconciliation_id'];
  const charge = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  const { paymentId = '' } = await charge.outcome();
  await time.holdfast.refund({ payment: charge.reference, reason: 'returned' });
  expect(fieldsOf(paymentId, 'refunds')).toEqual([[...OURS, 'reason'].toSorted()]);

  const whole = await beginFlow(time, 'authorizeAndCapture', await inputOf(time, 'authorizeAndCapture'));
  const { paymentId: captured } = await whole.outcome();
  expect(fieldsOf(captured, 'captures')).toEqual([OURS]);

  const held = await beginHeld(time);
  await time.holdfast.void(held.reference);
  expect(fieldsOf((await held.outcome()).paymentId, 'voids')).toEqual([['additional_details']]);
});
