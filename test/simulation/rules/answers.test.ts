import { describe, expect, test } from 'vitest';
import type { FaultInput } from '../../../sandbox/control.js';
import { movements } from '../../support/payments.js';
import { plant, signalEvent } from '../../time/checks.js';
import { answers, DAY, HOUR, lostReply, MINUTE, SECOND, sharedTime } from './context.js';

const time = sharedTime();

const CHARGES = '*/charges';
const PENDS: FaultInput = { action: 'result', status: 'Pending', path: CHARGES, times: 1 };
const UNREACHED: FaultInput = {
  action: 'result',
  status: 'Failed',
  category: 'provider_network_error',
  path: CHARGES,
  times: 1,
};

async function charged(...faults: FaultInput[]) {
  const input = await time.input();
  for (const fault of faults) await plant(time, input, fault);
  const charge = await time.start(input);
  await time.passUntil(charge.startedAt + 2 * SECOND);
  return { charge, onLedger: () => movements(time, input.reference) };
}

describe('a charge whose provider was not reached at first', () => {
  test('pends once the service says so, for as long as that takes: it is no decline after an hour', async () => {
    const { charge, onLedger } = await charged(UNREACHED, PENDS);
    await time.passUntil(charge.startedAt + HOUR + MINUTE);
    const { transactionId = '', ...status } = await charge.status();
    expect(status).toMatchObject({ status: 'pending', waitingFor: 'settlement' });
    await time.passUntil(charge.startedAt + DAY);
    await time.sandbox.complete(transactionId, { status: 'Succeed' });
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded', transactionId });
    expect(await onLedger()).toEqual(['charge Succeed 1095 USD']);
  });
});

describe('an event that says Failed and not why', () => {
  test('makes the flow read: a provider that was not reached is no confirmed decline', async () => {
    const { charge, onLedger } = await charged(PENDS, { ...UNREACHED, times: 20 });
    const { paymentId = '', transactionId = '' } = await charge.status();
    await time.sandbox.complete(transactionId, { status: 'Failed', category: 'provider_network_error' });
    await signalEvent(time, charge, { paymentId, transactionId, status: 'Failed', category: undefined });
    await time.passUntil(charge.startedAt + 10 * MINUTE);
    expect(await charge.status()).not.toHaveProperty('outcome');
    expect(await charge.outcome()).toMatchObject({
      status: 'declined',
      category: 'provider_network_error',
      confirmed: false,
      retryable: 'nobody',
    });
    expect(await onLedger()).toEqual(['charge Failed 1095 USD']);
  });
});

describe('a status that no interface names', () => {
  const WORD: FaultInput = { ...PENDS, shown_as: 'Settling' };

  test.each([
    ['in a reply', []],
    ['in the list alone, since no reply came', [lostReply(CHARGES, 1), answers(503, 'POST', CHARGES)]],
  ] as const)(
    '%s is never final: the charge is there, is looked at again, and a person is told the word',
    async (_where, faults) => {
      const { charge, onLedger } = await charged(WORD, ...faults);
      await time.passUntil(charge.startedAt + DAY - MINUTE);
      const { transactionId = '', ...status } = await charge.status();
      expect(status).toMatchObject({ status: 'pending', waitingFor: 'settlement', needsOperator: false });
      await time.passUntil(charge.startedAt + DAY + 2 * HOUR);
      const asked = await charge.status();
      expect(asked).toMatchObject({ status: 'pending', needsOperator: true });
      expect(asked.operatorReason).toContain('"Settling"');
      await time.sandbox.complete(transactionId, { status: 'Succeed' });
      expect(await charge.outcome()).toMatchObject({ status: 'succeeded', transactionId });
      expect(await onLedger()).toEqual(['charge Succeed 1095 USD']);
    },
  );
});
