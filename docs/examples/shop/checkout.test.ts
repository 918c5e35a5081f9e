import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InMemoryHoldfast } from 'holdfast/testing';
import { checkout } from './checkout.js';

const TOKEN = '3f0d1c52-9f5e-4a39-8b8e-5d1a7f0c2b11';

test('an order that is asked for twice is paid once', async () => {
  const holdfast = new InMemoryHoldfast().plan('order-7', { status: 'unknown' }, { status: 'succeeded' });
  assert.match(await checkout(holdfast, { id: 'order-7', total: 1999 }, TOKEN), /do not know yet/);
  assert.match(await checkout(holdfast, { id: 'order-7', total: 1999 }, TOKEN), /Thank you/);
  assert.match(await checkout(holdfast, { id: 'order-7', total: 1999 }, TOKEN), /Thank you/);
  assert.equal(holdfast.moneyMoved('order-7'), 1999);
});
