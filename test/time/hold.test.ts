import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FaultInput } from '../../sandbox/control.js';
import { movements } from '../support/payments.js';
import { until } from '../support/until.js';
import { beginHold } from '../support/virtual-flows.js';
import { HOUR, MINUTE, startVirtualTime, type VirtualTime } from '../support/virtual-time.js';

const DAY = 24 * HOUR;
const VOID_DECLINED: FaultInput = {
  action: 'result',
  status: 'Failed',
  category: 'payment_method_declined',
  path: '*/voids',
};

let time: VirtualTime;
beforeAll(async () => {
  time = await startVirtualTime();
});
afterAll(async () => {
  await time?.close();
});

/** How an authorized payment behaves at the service once its hold has ended. */
async function holdsEnd(expired_hold: 'voids_payment' | 'fails_capture'): Promise<void> {
  const [unit] = await time.sandbox.businessUnits();
  await time.sandbox.putBusinessUnit({ app_id: unit?.app_id ?? '', profile: { expired_hold } });
}

describe('the deadline of a hold', () => {
  test('is announced before it comes, and then releases the money', async () => {
    const hold = await beginHold(time, { captureDeadline: '2 days', deadlineWarning: '3 hours' });
    await time.passUntil(hold.startedAt + 2 * DAY - 3 * HOUR - MINUTE);
    expect(await hold.status()).toMatchObject({ status: 'authorized', waitingFor: 'capture' });
    await time.passUntil(hold.startedAt + 2 * DAY - 2 * HOUR);
    expect(await hold.status()).toMatchObject({ status: 'authorized', waitingFor: 'captureSoonDue' });
    const { searchAttributes } = await time.client.workflow.getHandle(hold.workflowId).describe();
    expect(searchAttributes['WaitingFor']).toEqual(['captureSoonDue']);
    expect(await movements(time, hold.reference)).toEqual(['authorization Succeed 6000 USD']);

    const outcome = await hold.outcome();
    expect(outcome).toMatchObject({ status: 'voided', reason: 'deadline', amount: 6_000 });
    expect(Date.parse(outcome.evidence.settledAt)).toBeGreaterThanOrEqual(hold.startedAt + 2 * DAY);
    expect(await movements(time, hold.reference)).toEqual(['authorization Succeed 6000 USD', 'void Succeed 6000 USD']);
  });

  test('takes the money where that was asked for', async () => {
    const hold = await beginHold(time, { onDeadline: 'capture' });
    const outcome = await hold.outcome();
    expect(outcome).toMatchObject({ status: 'captured', capturedAmount: 6_000 });
    expect(Date.parse(outcome.evidence.settledAt)).toBeGreaterThanOrEqual(hold.startedAt + 6 * DAY);
    expect(await movements(time, hold.reference)).toEqual([
      'authorization Succeed 6000 USD',
      'capture Succeed 6000 USD',
    ]);
  });

  test('releases the money when the capture it started is declined', async () => {
    const declined: FaultInput = { ...VOID_DECLINED, path: '*/captures' };
    const hold = await beginHold(time, { onDeadline: 'capture' }, { faults: [declined] });
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'deadline' });
    expect(await movements(time, hold.reference)).toEqual([
      'authorization Succeed 6000 USD',
      'capture Failed 6000 USD',
      'void Succeed 6000 USD',
    ]);
  });

  test('is tried again while the service declines the void, an operator is told, and it ends proven', async () => {
    const hold = await beginHold(time, { captureDeadline: '1 day' }, { faults: [{ ...VOID_DECLINED, times: 4 }] });
    await time.passUntil(hold.startedAt + DAY + 3 * MINUTE);
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: false });
    await time.passUntil(hold.startedAt + DAY + 50 * MINUTE);
    const { operatorReason, ...status } = await hold.status();
    expect(status).toMatchObject({ status: 'authorized', waitingFor: 'captureSoonDue', needsOperator: true });
    expect(operatorReason).toContain('tries to end the hold have failed');
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'deadline' });
    expect(await movements(time, hold.reference)).toEqual([
      'authorization Succeed 6000 USD',
      ...Array<string>(4).fill('void Failed 6000 USD'),
      'void Succeed 6000 USD',
    ]);
    expect(await hold.status()).toMatchObject({ needsOperator: false });
  });

  test('is shown as before once keys that were rejected while the money is held work again', async () => {
    const hold = await beginHold(time, { captureDeadline: '3 days' });
    await time.passUntil(hold.startedAt + HOUR);
    const { workflowId } = hold;
    const dueAt = async () => {
      const { searchAttributes } = await time.client.workflow.getHandle(workflowId).describe();
      return searchAttributes['DueAt'];
    };
    const before = await dueAt();
    const { paymentId } = await hold.status();
    const rejected = await time.sandbox.addFault({ action: 'status', status: 401, path: `/payments/${paymentId}` });
    const lookAgain = async (needsOperator: boolean) => {
      await time.holdfast.retryNow({ workflowId });
      await until(
        () => hold.status(),
        (status) => status.needsOperator === needsOperator,
      );
    };
    await lookAgain(true);
    await time.sandbox.removeFault(rejected.id);
    await lookAgain(false);
    expect(await dueAt()).toEqual(before);
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'deadline' });
  });

  test('whose void pends for a day is waited for, and no second one is sent', async () => {
    const hold = await beginHold(time, { amount: 4_500, captureDeadline: '1 day' });
    await time.passUntil(hold.startedAt + DAY + 12 * HOUR);
    expect(await hold.status()).toMatchObject({ status: 'pending', waitingFor: 'settlement' });
    await expect(hold.ask('capture')).rejects.toMatchObject({ cause: { type: 'StateConflict' } });
    expect(await hold.outcome()).toMatchObject({ status: 'voided', reason: 'deadline', evidence: { knownBy: 'poll' } });
    expect(await movements(time, hold.reference)).toEqual(['authorization Succeed 4500 USD', 'void Succeed 4500 USD']);
  });
});

describe('a hold that lapses', () => {
  test.each(['voids_payment', 'fails_capture'] as const)(
    'although its void was tried again ends as expired, with what the service shows (%s)',
    async (profile) => {
      await holdsEnd(profile);
      const hold = await beginHold(time, {}, { faults: [VOID_DECLINED] });
      const outcome = await hold.outcome();
      await holdsEnd('voids_payment');

      expect(outcome).toMatchObject({
        status: 'expired',
        evidence: { proof: expect.stringContaining(profile === 'fails_capture' ? 'Authorized' : 'Voided') },
      });
      const [authorization, ...voids] = await movements(time, hold.reference);
      expect(authorization).toBe('authorization Succeed 6000 USD');
      expect(voids.length).toBeGreaterThanOrEqual(6);
      expect(new Set(voids)).toEqual(new Set(['void Failed 6000 USD']));
    },
  );

  test('takes no capture any more, and the answer says that it has lapsed', async () => {
    await holdsEnd('fails_capture');
    const hold = await beginHold(time, {}, { faults: [VOID_DECLINED] });
    await time.passUntil(hold.startedAt + 7 * DAY + 20 * MINUTE);
    await expect(hold.ask('capture')).rejects.toMatchObject({
      cause: { type: 'StateConflict', message: expect.stringContaining('the hold has lapsed at') },
    });
    expect(await hold.outcome()).toMatchObject({ status: 'expired' });
    await holdsEnd('voids_payment');
    expect(time.requests.operations((await hold.status()).paymentId, 'captures')).toEqual([]);
  });

  test('while the service can not say how it stands is looked at ever less often, and an operator is told', async () => {
    const hold = await beginHold(time, { captureDeadline: `${7 * 24 - 1} hours` }, { faults: [VOID_DECLINED] });
    const { paymentId } = await hold.status();
    const away = await time.sandbox.addFault({
      action: 'status',
      status: 503,
      method: 'GET',
      path: `/payments/${paymentId}`,
    });
    await time.passUntil(hold.startedAt + 9 * DAY);
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: true });
    const { events = [] } = await time.client.workflow.getHandle(hold.workflowId).fetchHistory();
    // A day without an answer.
    expect((events ?? []).length).toBeLessThan(900);
    await time.sandbox.removeFault(away.id);
    expect(await hold.outcome()).toMatchObject({ status: 'expired' });
  });
});
