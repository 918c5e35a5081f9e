import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FaultInput } from '../../sandbox/control.js';
import { movements } from '../support/payments.js';
import { fullOr, half } from '../support/counts.js';
import { beginHeld, beginHold } from '../support/virtual-flows.js';
import { HOUR, MINUTE, startVirtualTime, type VirtualTime } from '../support/virtual-time.js';

const DAY = 24 * HOUR;
const lost = (path: string): FaultInput => ({ action: 'drop_reply', method: 'POST', path });
const away = (method: 'POST' | 'GET', path: string): FaultInput => ({ action: 'status', status: 503, method, path });
/** Every minute for 20 h at the full count; the same over a key that is rejected meanwhile, every 15 minutes. */
const away20h = (path: string): FaultInput =>
  fullOr(1, 0) === 1 ? away('POST', path) : { action: 'status', status: 401, method: 'POST', path };
const UNREACHABLE: FaultInput = {
  action: 'result',
  status: 'Failed',
  category: 'provider_network_error',
  path: '*/captures',
};

let time: VirtualTime;
beforeAll(async () => {
  time = await startVirtualTime();
});
afterAll(async () => {
  await time?.close();
});

test('a capture whose command names a reference of its own is found under that one at the service', async () => {
  const hold = await beginHeld(time);
  const shipment = `ship-${hold.reference}`;
  const { transactionId } = await hold.ask('capture', { commandId: 'part', amount: 5_500, reference: shipment });
  const [capture, ...more] = await time.sandbox.ledger(shipment);
  expect(capture).toMatchObject({ transaction_id: transactionId, kind: 'capture', amount: 5_500 });
  expect(more).toEqual([]);
  expect(await movements(time, hold.reference)).toEqual(['authorization Succeed 6000 USD']);
});

describe('a command whose reply is lost until its key can not be used any more', () => {
  test.each(
    half([
      ['capture', 'captured'],
      ['void', 'voided'],
    ] as const),
  )('%s: is found by reading before anything else is tried', async (name, status) => {
    const hold = await beginHold(time, {}, { faults: [{ ...lost(`*/${name}s`), times: 1 }, away20h(`*/${name}s`)] });
    await time.passUntil(hold.startedAt + HOUR);
    const { paymentId } = await hold.status();
    const lists = await time.sandbox.addFault(away('GET', `/payments/${paymentId}/${name}s*`));
    const { answer } = await hold.command(name);
    await time.passUntil(hold.startedAt + 23 * HOUR);
    expect(await hold.status()).toMatchObject({ status: 'unknown', waitingFor: 'proof' });
    const other = name === 'capture' ? 'void' : 'capture';
    await expect(hold.ask(other)).rejects.toMatchObject({ cause: { type: 'StateConflict' } });

    await time.sandbox.removeFault(lists.id);
    const outcome = await hold.outcome();
    expect(outcome).toMatchObject({ status, evidence: { knownBy: 'poll' } });
    expect(await answer).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
    const posts = time.requests.operations(paymentId, `${name}s`);
    expect(new Set(posts.map(({ key }) => key)).size).toBe(1);
    expect((posts.at(-1)?.at ?? 0) - (posts[0]?.at ?? 0)).toBeLessThan(20 * HOUR);
    expect(time.requests.operations(paymentId, `${other}s`)).toEqual([]);
    expect(await movements(time, hold.reference)).toEqual([
      'authorization Succeed 6000 USD',
      `${name} Succeed 6000 USD`,
    ]);
  });
});

test('a capture that was never executed is proven absent, the money is held again, and the deadline releases it', async () => {
  const hold = await beginHeld(
    time,
    {},
    { faults: [{ ...away('POST', '*/captures'), times: 1 }, away20h('*/captures')] },
  );
  const { answer } = await hold.command('capture');
  await time.passUntil(hold.startedAt + 21 * HOUR);
  expect(await hold.status()).toMatchObject({ status: 'unknown', waitingFor: 'proof' });
  await time.passUntil(hold.startedAt + 23 * HOUR);
  expect(await answer).toMatchObject({
    status: 'notExecuted',
    evidence: { proof: expect.stringContaining('listed no') },
  });
  expect(await hold.status()).toMatchObject({ status: 'authorized', waitingFor: 'capture', needsOperator: false });
  expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'deadline' });
  expect(await movements(time, hold.reference)).toEqual(['authorization Succeed 6000 USD', 'void Succeed 6000 USD']);
});

describe('a capture whose failure nobody has confirmed for an hour', () => {
  const unconfirmed = { status: 'declined', category: 'provider_network_error', confirmed: false };

  test.each(
    half([
      ['a command', { onDeadline: 'capture' }],
      ['captureMode auto', { onDeadline: 'capture', captureMode: 'auto' }],
    ] as const),
  )('is the last one, whoever asks again: by %s, and the deadline voids', async (how, terms) => {
    const hold = await (how === 'a command' ? beginHeld : beginHold)(time, terms, { faults: [UNREACHABLE] });
    if (how === 'a command') {
      const { answer } = await hold.command('capture');
      await time.passUntil(hold.startedAt + 2 * HOUR);
      expect(await answer).toMatchObject(unconfirmed);
    } else {
      await time.passUntil(hold.startedAt + 2 * HOUR);
    }
    expect(await hold.status()).toMatchObject({ status: 'authorized' });
    await expect(hold.ask('capture')).rejects.toMatchObject({
      cause: { type: 'StateConflict', message: expect.stringContaining('failed without confirmation') },
    });
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'deadline' });
    expect(await movements(time, hold.reference)).toEqual([
      'authorization Succeed 6000 USD',
      'capture Failed 6000 USD',
      'void Succeed 6000 USD',
    ]);
  });

  test('and which an event calls done after all ends the flow as captured', async () => {
    const hold = await beginHeld(time, {}, { faults: [{ ...UNREACHABLE, times: 5 }] });
    const { answer } = await hold.command('capture');
    await time.passUntil(hold.startedAt + 2 * HOUR);
    const { transactionId = '' } = await answer;
    const [post] = time.requests.operations((await hold.status()).paymentId, 'captures');
    // The provider answers at last, to somebody who asks under the same key.
    const { paymentId = '' } = await hold.status();
    await time.provider.createCapture(
      paymentId,
      { amount: 6_000, reconciliationId: hold.reference },
      { idempotencyKey: post?.key ?? '' },
    );
    await hold.event({ eventType: 'payment.capture.update', transactionId, status: 'Succeed' });
    await time.passUntil(hold.startedAt + 3 * HOUR);
    expect(await hold.outcome()).toMatchObject({ status: 'captured', transactionId, capturedAmount: 6_000 });
    const outcome = await hold.outcome();
    expect(Date.parse(outcome.evidence.settledAt)).toBeLessThan(hold.startedAt + DAY);
    expect(await movements(time, hold.reference)).toEqual([
      'authorization Succeed 6000 USD',
      'capture Succeed 6000 USD',
    ]);
  });

  test.each(half(['', '/captures']))(
    'is not followed by a void while a look can not rule it out (GET %s)',
    async (list) => {
      const hold = await beginHeld(time, {}, { faults: [{ ...UNREACHABLE, times: 5 }] });
      await hold.command('capture');
      await time.passUntil(hold.startedAt + 2 * HOUR);
      const { paymentId = '' } = await hold.status();
      const [post] = time.requests.operations(paymentId, 'captures');
      await time.provider.createCapture(
        paymentId,
        { amount: 6_000, reconciliationId: hold.reference },
        { idempotencyKey: post?.key ?? '' },
      );
      const unreadable = await time.sandbox.addFault(away('GET', `/payments/${paymentId}${list}`));
      await expect(hold.ask('void')).rejects.toMatchObject({ cause: { type: 'StateConflict' } });
      expect(time.requests.operations(paymentId, 'voids')).toEqual([]);
      await time.sandbox.removeFault(unreadable.id);
      expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 6_000 });
      expect(time.requests.operations(paymentId, 'voids')).toEqual([]);
    },
  );
});

test('a capture that pends holds the deadline up, and its decline lets it act', async () => {
  const hold = await beginHeld(
    time,
    { captureDeadline: '1 day' },
    { faults: [{ action: 'result', status: 'Pending', path: '*/captures' }] },
  );
  const { answer } = await hold.command('capture');
  await time.passUntil(hold.startedAt + DAY + 5 * HOUR);
  const { transactionId = '', ...status } = await hold.status();
  expect(status).toMatchObject({ status: 'pending', waitingFor: 'settlement', needsOperator: true });
  await time.sandbox.complete(transactionId, { status: 'Failed', category: 'payment_method_declined' });
  const outcome = await hold.outcome();
  expect(await answer).toMatchObject({ status: 'declined', confirmed: true });
  expect(outcome).toMatchObject({ status: 'voided', reason: 'deadline' });
  expect(Date.parse(outcome.evidence.settledAt)).toBeLessThan(hold.startedAt + DAY + 5 * HOUR + 90 * MINUTE);
  expect(await movements(time, hold.reference)).toEqual([
    'authorization Succeed 6000 USD',
    'capture Failed 6000 USD',
    'void Succeed 6000 USD',
  ]);
});
