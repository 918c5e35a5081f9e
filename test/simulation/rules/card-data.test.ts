import { describe, expect, test } from 'vitest';
import { movements } from '../../support/payments.js';
import { beginActions, beginHeld } from '../../support/virtual-flows.js';
import { beginFlow, failsWith, inputOf, keysOf, sharedTime, startRaw } from './context.js';

const time = sharedTime();

/** Honest values of which every one has the prefix and the check digit of a card. */
const LIKE_CARDS = {
  statementSoftDescriptor: 'SHOP +49300000000003',
  order: { id: '4500000620-248713', lineItems: [{ id: '4018933917377', quantity: 1, unitPrice: 6_000 }] },
  billingAddress: { phone: '+49 1518 9520 856', zipCode: '4111111111111111' },
};

describe('an input whose ids and telephone read like card numbers', () => {
  test('reaches the service as it was written, by a raw start too', async () => {
    const input = await inputOf(time, 'charge', { ...LIKE_CARDS, reference: '4500000620-248713' });
    const flow = await startRaw(time, 'charge', input);
    expect(await flow.result()).toMatchObject({ status: 'succeeded' });
    const body = JSON.parse(time.requests.paymentPosts(input.reference)[0]?.body ?? '{}') as Record<string, unknown>;
    expect(body).toMatchObject({
      statement_soft_descriptor: LIKE_CARDS.statementSoftDescriptor,
      order: { id: LIKE_CARDS.order.id, line_items: [{ id: '4018933917377' }] },
      billing_address: { phone: LIKE_CARDS.billingAddress.phone, zip_code: '4111111111111111' },
    });
  });
});

describe('a card number in free text', () => {
  test.each([
    ['order.lineItems.0.name', { order: { lineItems: [{ name: 'Tea 4111 1111 1111 1111', unitPrice: 1 }] } }],
    ['billingAddress.line1', { billingAddress: { line1: '4111.1111.1111.1111 High Street' } }],
    ['shippingAddress.lastName', { shippingAddress: { lastName: '378282246310005' } }],
    ['billingAddress.city', { billingAddress: { city: 'CVV: 123' } }],
    ['cardNumber', { cardNumber: '4111111111111111' }],
  ])('at %s ends a raw start as InvalidInput, and nothing is sent', async (path, fields) => {
    const input = await inputOf(time, 'charge');
    const flow = await startRaw(time, 'charge', input, { args: [{ ...input, ...fields }] });
    const failure: unknown = await flow.result().catch((error: unknown) => error);
    expect(failure).toMatchObject(failsWith('InvalidInput', `${path}: `));
    expect(JSON.stringify((failure as Error).cause)).not.toMatch(/4111.?1111|378282/);
    expect(time.requests.posts(input.reference)).toEqual([]);
    expect(await movements(time, input.reference)).toEqual([]);
  });

  test('of a command refuses the command, and the flow goes on', async () => {
    const hold = await beginHeld(time);
    const why = 'paid with 4111-1111-1111-1111';
    await expect(hold.ask('capture', { why })).rejects.toMatchObject(failsWith('InvalidInput', 'why: '));
    expect(keysOf(time, hold.reference)).toEqual(['createPayment:1', 'authorize:1']);
    expect(await hold.ask('capture', { why: 'order 4500000620-248713 has left' })).toMatchObject({
      status: 'succeeded',
    });
  });
});

/** Of each the first 12 hex digits of its SHA-256, with `-1` behind, were once taken for a Visa of 13 digits. */
test.each(['refund-995', 'refund-27138', 'refund-36230'])('the key of %s leaves as it was made', async (commandId) => {
  const charge = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  const { paymentId = '' } = await charge.outcome();
  const actions = await beginActions(time, { paymentId, currency: 'USD' });
  const { answer } = await actions.command('refund', { commandId });
  expect(await answer).toMatchObject({ status: 'succeeded' });
  const [refund] = time.requests.operations(paymentId, 'refunds');
  expect(refund?.key).toMatch(/^payment-actions-[0-9a-f-]{36}:refund:\d{12}-1$/);
});
