import { describe, expect, test } from 'vitest';
import { plant, signalEvent } from '../../time/checks.js';
import { calm, type NetworkStrategy } from '../world/strategies.js';
import { DAY, HOUR, MINUTE, SECOND, sharedTime } from './context.js';

/** The reply to a read is under way for so long that an event overtakes it. */
const SLOW = { fate: 'deliver', requestDelayMs: 2, replyDelayMs: 8 * SECOND } as const;
let isSlow = false;
/** Called with each slow read. */
let onRead: () => void = () => {};
const strategy: NetworkStrategy = (request) => {
  if (!isSlow || request.method !== 'GET') return calm(request);
  onRead();
  return SLOW;
};
const time = sharedTime({}, { strategy: () => strategy });

describe('an event that comes while the last read is under way is handled before the flow ends', () => {
  test('as declined, unconfirmed: the money that has moved after all is told', async () => {
    const input = await time.input();
    await plant(time, input, {
      action: 'result',
      status: 'Failed',
      category: 'provider_network_error',
      path: '*/charges',
    });
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 55 * MINUTE);
    const { paymentId = '', transactionId = '' } = await charge.status();
    isSlow = true;
    await time.passUntil(charge.startedAt + HOUR + 5 * SECOND);
    isSlow = false;
    expect((await charge.status()).outcome).toBeUndefined();
    await signalEvent(time, charge, { paymentId, transactionId, status: 'Succeed' });
    expect(await charge.outcome()).toMatchObject({
      status: 'succeeded',
      transactionId,
      evidence: { knownBy: 'webhook' },
    });
  });

  test('as not executed: a transaction that somebody has signed is looked for, and a person is asked', async () => {
    const begin = async () => {
      const input = await time.input({ cvv: '737' });
      await plant(time, input, { action: 'refuse', method: 'POST', path: '*/charges' });
      return await time.start(input);
    };
    isSlow = true;
    let reads = 0;
    onRead = () => (reads += 1);
    expect(await (await begin()).outcome()).toMatchObject({ status: 'notExecuted' });
    const last = reads;
    reads = 0;
    const charge = await begin();
    const { paymentId = '' } = await charge.status();
    onRead = () => {
      reads += 1;
      const news = () => signalEvent(time, charge, { paymentId, transactionId: 'seen-by-nobody' });
      if (reads === last) setTimeout(() => void news(), 4 * SECOND);
    };
    await time.passUntil(charge.startedAt + DAY);
    isSlow = false;
    expect(reads).toBeGreaterThan(last);
    expect(await charge.status()).toMatchObject({ status: 'unknown', needsOperator: true });
    expect(await time.holdfast.explain(charge.input.reference)).toContain('an event names transaction seen-by-nobody');
  });
});
