import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { InMemoryHoldfast } from '../../tools/testing/in-memory-holdfast.js';
import { CARDS, newReference } from '../support/charges.js';
import { authorizeInput, MOCK_FRIENDLY } from '../support/payments.js';
import { HOUR, MINUTE } from '../support/virtual-time.js';
import { type SimulatedTime, startSimulatedTime } from '../simulation/simulated-time.js';
import { CASES, Payment, SUCCEEDED } from './cases-of-payments.js';

const TOKEN = '3f0d1c52-9f5e-4a39-8b8e-5d1a7f0c2b11';

describe('the client in memory', () => {
  test.each(Object.entries(CASES))('says of %s what stands here', async (_name, { input, plans = {}, calls, says }) => {
    const reference = newReference();
    const paymentMethod = { type: 'tokenized', token: TOKEN } as const;
    const holdfast = new InMemoryHoldfast();
    for (const [id, [first = SUCCEEDED, ...rest]] of Object.entries(plans))
      holdfast.plan(id === 'flow' ? reference : id, first, ...rest);
    const asked = { reference, amount: MOCK_FRIENDLY, currency: 'USD', paymentMethod, ...input };
    const payment = new Payment(holdfast, asked, async () => undefined);
    await calls(payment);
    expect(payment.said).toEqual(says);
  });
});

describe('the real client', () => {
  let time: SimulatedTime;
  beforeAll(async () => {
    time = await startSimulatedTime();
    await time.sandbox.settings({ pendingMs: 10 * MINUTE });
  });
  afterAll(async () => {
    await time?.close();
  });

  for (const [name, { input, card = 'succeeds', calls, says }] of Object.entries(CASES))
    test(`says of ${name} what stands here`, async () => {
      const settle = async (): Promise<void> => await time.passUntil((await time.now()) + HOUR);
      const payment = new Payment(time.holdfast, await authorizeInput(time, CARDS[card], input), settle);
      await calls(payment);
      expect(payment.said).toEqual(says);
    });
});
