import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InMemoryHoldfast } from 'holdfast/testing';
import { checkout } from './checkout.js';

const TOKEN = '3f0d1c52-9f5e-4a39-8b8e-5d1a7f0c2b11';
const OTHER = '9b1e7a40-52c3-4d0f-8f6a-7c2d90e1b3a5';
const ordered = () => ({ id: 'order-7', total: 1999, attempt: 1 });

test('an order that is asked for twice is paid once', async () => {
  const holdfast = new InMemoryHoldfast().plan('order-7-1', { status: 'unknown' }, { status: 'succeeded' });
  const order = ordered();
  assert.match(await checkout(holdfast, order, TOKEN), /do not know yet/);
  assert.match(await checkout(holdfast, order, TOKEN), /Thank you/);
  assert.match(await checkout(holdfast, order, TOKEN), /Thank you/);
  assert.equal(holdfast.moneyMoved('order-7-1'), 1999);
});

test('another card pays for what was declined', async () => {
  const holdfast = new InMemoryHoldfast().plan('order-7-1', { status: 'declined', subCategory: 'lost_stolen_card' });
  const order = ordered();
  const twice = await Promise.all([checkout(holdfast, order, TOKEN), checkout(holdfast, order, TOKEN)]);
  for (const said of twice) assert.match(said, /try another one/);
  assert.match(await checkout(holdfast, order, OTHER), /Thank you/);
  assert.equal(holdfast.moneyMoved('order-7-2'), 1999);
});

test('after a decline that nobody has confirmed no card is charged', async () => {
  const holdfast = new InMemoryHoldfast().plan('order-7-1', { status: 'declined', confirmed: false });
  const order = ordered();
  assert.match(await checkout(holdfast, order, TOKEN), /do not know yet/);
  await assert.rejects(checkout(holdfast, order, OTHER), { type: 'ReferenceConflict' });
});

test('of what the merchant has to mend the buyer is asked for no other card', async () => {
  const declined = { status: 'declined', category: 'blocked_by_decision_engine' } as const;
  const holdfast = new InMemoryHoldfast().plan('order-7-1', declined).plan('order-7-2', { status: 'notExecuted' });
  const order = ordered();
  assert.match(await checkout(holdfast, order, TOKEN), /Nothing was taken, and another card would not help/);
  assert.match(await checkout(holdfast, order, OTHER), /please try again/);
});
