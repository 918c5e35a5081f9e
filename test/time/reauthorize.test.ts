import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type AuthorizeInput, MAX_REAUTHORIZATIONS } from '../../src/contract/authorize.js';
import type { FaultInput } from '../../sandbox/control.js';
import { movements } from '../support/payments.js';
import { storedInSkippedTime } from '../support/cards.js';
import { beginHeld, beginHold } from '../support/virtual-flows.js';
import { HOUR, MINUTE, startVirtualTime, type VirtualTime } from '../support/virtual-time.js';

const DAY = 24 * HOUR;
const HELD = 'authorization Succeed 6000 USD';
const RELEASED = 'void Succeed 6000 USD';
const DECLINED: FaultInput = { action: 'result', status: 'Failed', category: 'payment_method_declined' };

let time: VirtualTime;
beforeAll(async () => {
  time = await startVirtualTime();
});
afterAll(async () => {
  await time?.close();
});

/** A hold with a card that is on file. */
async function storedInput(overrides: Partial<AuthorizeInput> = {}): Promise<Partial<AuthorizeInput>> {
  const card = await storedInSkippedTime(time);
  return { ...card, cardOnFile: { entryMode: 'cof_cardholder_initiated_transaction' }, ...overrides };
}

/** The keys under which something was asked for, without the name of the flow, each once. */
function keysOf(reference: string): string[] {
  const keys = time.requests.posts(reference).map(({ key = '' }) => key.slice(`payment-${reference}:`.length));
  return [...new Set(keys)];
}

describe('a hold with a stored card', () => {
  test('is reauthorized by a command once the old one is gone, and captured after the old one would have lapsed', async () => {
    const hold = await beginHeld(time, await storedInput());
    const { paymentId: first } = await hold.status();
    await time.passUntil(hold.startedAt + 5 * DAY);
    const reauthorized = await hold.ask('reauthorize', { commandId: 'longer', who: 'ada', why: 'on back order' });
    expect(reauthorized).toMatchObject({ status: 'succeeded', amount: 6_000 });
    expect(reauthorized.paymentId).not.toBe(first);
    expect(await hold.ask('reauthorize', { commandId: 'longer' })).toEqual(reauthorized);
    expect(await hold.status()).toMatchObject({ status: 'authorized', paymentId: reauthorized.paymentId });

    await time.passUntil(hold.startedAt + 9 * DAY);
    const captured = await hold.ask('capture', { commandId: 'ship' });
    expect(captured).toMatchObject({ status: 'succeeded', paymentId: reauthorized.paymentId });
    expect(await hold.outcome()).toMatchObject({
      status: 'captured',
      paymentId: reauthorized.paymentId,
      authorizationId: reauthorized.transactionId,
      earlierHolds: [{ status: 'voided', paymentId: first }],
      actions: [{ action: 'reauthorize', commandId: 'longer' }, { action: 'capture' }],
    });
    expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD, 'capture Succeed 6000 USD']);
    expect(keysOf(hold.reference)).toEqual([
      'createPayment:1',
      'authorize:1',
      'void:1',
      'createPayment:2',
      'authorize:2',
      'capture:1',
    ]);
    // Who asks once more after the end is told the same; a new wish comes too late.
    expect(await time.holdfast.reauthorize(hold.reference, { commandId: 'longer' })).toEqual(reauthorized);
    await expect(time.holdfast.reauthorize(hold.reference)).rejects.toMatchObject({ type: 'StateConflict' });
  });

  test('is reauthorized at its deadline as often as that was asked for, and then released', async () => {
    const input = await storedInput({ onDeadline: 'reauthorize', reauthorization: { times: 2 } });
    const hold = await beginHeld(time, input);
    await time.passUntil(hold.startedAt + 6 * DAY + HOUR);
    expect(await hold.status()).toMatchObject({ status: 'authorized', waitingFor: 'capture' });
    const outcome = await hold.outcome();
    expect(outcome).toMatchObject({
      status: 'voided',
      reason: 'deadline',
      earlierHolds: [{ status: 'voided' }, { status: 'voided' }],
    });
    expect(Date.parse(outcome.evidence.settledAt)).toBeGreaterThanOrEqual(hold.startedAt + 18 * DAY);
    expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD, RELEASED, HELD, RELEASED]);
    expect(keysOf(hold.reference).filter((key) => key.startsWith('void'))).toEqual(['void:1', 'void:2', 'void:3']);
  });

  test('that a command has reauthorized is reauthorized at its deadline as often all the same', async () => {
    const hold = await beginHeld(time, await storedInput({ onDeadline: 'reauthorize', reauthorization: { times: 1 } }));
    await time.passUntil(hold.startedAt + DAY);
    await hold.ask('reauthorize', { commandId: 'longer' });
    await time.passUntil(hold.startedAt + 7 * DAY + HOUR);
    expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD, RELEASED, HELD]);
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'deadline' });
    expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD, RELEASED, HELD, RELEASED]);
  });

  test('that could not be released is reauthorized once it has lapsed, and not before', async () => {
    const hold = await beginHeld(time, await storedInput());
    const declined = await time.sandbox.addFault({ ...DECLINED, path: '*/voids', reconciliation_id: hold.reference });
    await time.passUntil(hold.startedAt + 5 * DAY);
    const { answer } = await hold.command('reauthorize');
    await time.passUntil(hold.startedAt + 7 * DAY + 50 * MINUTE);
    expect(new Set(await movements(time, hold.reference))).toEqual(new Set([HELD, 'void Failed 6000 USD']));
    await time.passUntil(hold.startedAt + 7 * DAY + 2 * HOUR);
    expect(await answer).toMatchObject({ status: 'succeeded' });
    await time.sandbox.removeFault(declined.id);
    await hold.ask('capture');
    expect(await hold.outcome()).toMatchObject({ status: 'captured', earlierHolds: [{ status: 'expired' }] });
  });

  test('that the service still shows when it must have lapsed is not reauthorized: it would be held twice', async () => {
    const [unit] = await time.sandbox.businessUnits();
    const app_id = unit?.app_id ?? '';
    await time.sandbox.putBusinessUnit({ app_id, profile: { expired_hold: 'fails_capture' } });
    const hold = await beginHeld(time, await storedInput());
    await time.sandbox.addFault({ ...DECLINED, path: '*/voids', reconciliation_id: hold.reference });
    const { answer } = await hold.command('reauthorize');
    const refused = expect(answer).rejects.toMatchObject({
      cause: { message: expect.stringContaining('the service still shows the old hold') },
    });
    expect(await hold.outcome()).toMatchObject({ status: 'expired', confirmed: false });
    await refused;
    await time.sandbox.putBusinessUnit({ app_id, profile: { expired_hold: 'voids_payment' } });
    expect(new Set(await movements(time, hold.reference))).toEqual(new Set([HELD, 'void Failed 6000 USD']));
  });

  test('is reauthorized once, whatever replies are lost', async () => {
    const lost: FaultInput = { action: 'drop_reply', method: 'POST', times: 1 };
    const hold = await beginHeld(time, await storedInput());
    await time.sandbox.addFault({ ...lost, path: '*/voids', reconciliation_id: hold.reference });
    await time.sandbox.addFault({ ...lost, path: '*/authorizations', reconciliation_id: hold.reference });
    const { answer } = await hold.command('reauthorize');
    await time.passUntil(hold.startedAt + HOUR);
    expect(await answer).toMatchObject({ status: 'succeeded' });
    await hold.ask('void');
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'command' });
    expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, HELD, RELEASED]);
  });

  test('whose new authorization is declined ends the flow as declined, and nothing is held', async () => {
    const hold = await beginHeld(time, await storedInput());
    await time.sandbox.addFault({ ...DECLINED, path: '*/authorizations', reconciliation_id: hold.reference, times: 1 });
    expect(await hold.ask('reauthorize')).toMatchObject({ status: 'declined' });
    expect(await hold.outcome()).toMatchObject({ status: 'declined', earlierHolds: [{ status: 'voided' }] });
    expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED, 'authorization Failed 6000 USD']);
  });

  test('whose card has been taken off file is released and not reauthorized, and both answers say why', async () => {
    const input = await storedInput();
    const hold = await beginHeld(time, input);
    await time.provider.deletePaymentMethod(input.customerId ?? '', input.paymentMethod?.token ?? '');
    await expect(hold.ask('reauthorize')).rejects.toMatchObject({
      cause: { type: 'StateConflict', message: expect.stringContaining('not reauthorized') },
    });
    expect(await hold.outcome()).toMatchObject({
      status: 'voided',
      reason: expect.stringContaining('Token does not exist'),
    });
    expect(await movements(time, hold.reference)).toEqual([HELD, RELEASED]);
  });

  test('is not reauthorized when the flow is cancelled while the old one is being released', async () => {
    const hold = await beginHeld(time, await storedInput());
    await time.sandbox.addFault({ ...DECLINED, path: '*/voids', reconciliation_id: hold.reference, times: 1 });
    const { answer } = await hold.command('reauthorize');
    await hold.cancel();
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: expect.stringContaining('cancelled') });
    await expect(answer).rejects.toMatchObject({ cause: { message: expect.stringContaining('cancelled') } });
    expect(await movements(time, hold.reference)).toEqual([HELD, 'void Failed 6000 USD', RELEASED]);
  });

  test('that is voided elsewhere while it is to be reauthorized stays gone', async () => {
    const hold = await beginHeld(time, await storedInput());
    const { paymentId = '' } = await hold.status();
    await time.sandbox.addFault({ ...DECLINED, path: '*/voids', reconciliation_id: hold.reference, times: 1 });
    const { answer } = await hold.command('reauthorize');
    await time.passUntil(hold.startedAt + 20_000);
    await time.provider.createVoid(paymentId, {}, { idempotencyKey: `elsewhere-${hold.reference}` });
    await hold.event({ eventType: 'payment.void.create' });
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: expect.stringContaining('elsewhere') });
    await expect(answer).rejects.toMatchObject({ cause: { message: expect.stringContaining('voided elsewhere') } });
    expect(await movements(time, hold.reference)).toEqual([HELD, 'void Failed 6000 USD', RELEASED]);
  });
});

describe('a hold is not reauthorized', () => {
  test('with a card that is not on file', async () => {
    const hold = await beginHeld(time);
    await expect(hold.ask('reauthorize')).rejects.toMatchObject({
      cause: { type: 'StateConflict', message: expect.stringContaining('not on file') },
    });
    await hold.ask('void');
    await hold.outcome();
  });

  test('more often than that is allowed for one reference', async () => {
    const hold = await beginHeld(time, await storedInput());
    for (let number = 1; number <= MAX_REAUTHORIZATIONS; number += 1)
      expect(await hold.ask('reauthorize', { commandId: `${number}` })).toMatchObject({ status: 'succeeded' });
    await expect(hold.ask('reauthorize', { commandId: 'more' })).rejects.toMatchObject({
      cause: { type: 'StateConflict', message: expect.stringContaining(`reauthorized ${MAX_REAUTHORIZATIONS} times`) },
    });
    const holds = (await movements(time, hold.reference)).filter((row) => row === HELD);
    expect(holds).toHaveLength(1 + MAX_REAUTHORIZATIONS);
    await hold.ask('void');
    await hold.outcome();
  });

  test('where a capture may have taken the money', async () => {
    const unreachable: FaultInput = { ...DECLINED, category: 'provider_network_error', path: '*/captures' };
    const input = await storedInput({ captureMode: 'auto', onDeadline: 'reauthorize' });
    const hold = await beginHold(time, input, { faults: [unreachable] });
    await time.passUntil(hold.startedAt + 2 * HOUR);
    await expect(hold.ask('reauthorize')).rejects.toMatchObject({
      cause: { message: expect.stringContaining('without confirmation') },
    });
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'deadline' });
    expect(await movements(time, hold.reference)).toEqual([HELD, 'capture Failed 6000 USD', RELEASED]);
  });

  test('by an input that does not use a stored card', async () => {
    await expect(beginHold(time, { onDeadline: 'reauthorize' })).rejects.toThrow('needs a stored card');
    const cardOnFile = { entryMode: 'consent_transaction' } as const;
    await expect(beginHold(time, { cardOnFile, reauthorization: {} })).rejects.toThrow('needs a stored card');
  });
});
