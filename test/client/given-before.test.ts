import { describe, expect, test } from 'vitest';
import { HoldfastError } from '../../src/client/errors.js';
import { answerOfEnded } from '../../src/client/given-before.js';
import type { BillsAndSchedule, GivenBefore } from '../../src/contract/subscription-bills.js';

const refusal = new HoldfastError('StateConflict', 'The flow of "subscription-club" has already ended');
const BILL = { period: 3, status: 'paid', payment: 'club.3.1' } as const;

async function asked(name: string, request: object, given?: Partial<GivenBefore>) {
  const bills = { reference: 'club', currency: 'EUR', bills: [BILL], ...(given !== undefined && { given }) };
  return await answerOfEnded(
    () => Promise.resolve(bills as unknown as BillsAndSchedule),
    () => Promise.reject(new Error('not asked for')),
    { name, request: { commandId: 'c', ...request } },
    refusal,
  );
}

describe('a command to a subscription that has ended', () => {
  test.each([
    ['refundPeriod', 'EngineUnavailable'],
    ['billNow', 'EngineUnavailable'],
    ['pause', 'StateConflict'],
  ])('is called refused only where it moves no money, while nobody can say what it did: %s', async (name, type) => {
    const told = answerOfEnded(
      () => Promise.reject(new HoldfastError('EngineUnavailable', 'no worker')),
      () => Promise.reject(new Error('not asked for')),
      { name, request: { commandId: 'c' } },
      refusal,
    );
    await expect(told).rejects.toMatchObject({ type });
  });

  test.each([
    ['of a build that keeps no answers for this', undefined],
    ['that knows nothing of it', { answered: [], refunds: [] }],
  ])('%s names how its payment refunds it once', async (_what, given) => {
    const message = expect.stringContaining('refund({ payment: "club.3.1", commandId: "subscription-club:c" })');
    await expect(asked('refundPeriod', { period: 3 }, given)).rejects.toMatchObject({ type: 'StateConflict', message });
    for (const [name, request] of [['refundPeriod', {}] as const, ['billNow', { period: 3 }] as const]) {
      const unknown = expect.stringMatching(
        /has already ended. It is not known whether it was carried out before: look/,
      );
      const why = given === undefined ? unknown : refusal.message;
      await expect(asked(name, request, given)).rejects.toMatchObject({ type: 'StateConflict', message: why });
    }
    await expect(asked('pause', {}, given)).rejects.toBe(refusal);
  });

  test('that was refused before is refused as it was then', async () => {
    const answer = { refusal: 'amount: too much', type: 'InvalidInput' } as const;
    const given = {
      answered: [{ commandId: 'c', name: 'refundPeriod', request: '[["period",3]]', answer }],
      refunds: [],
    };
    const told = asked('refundPeriod', { period: 3, who: 'Anna' }, given);
    await expect(told).rejects.toMatchObject({ type: 'InvalidInput', message: 'Refused: amount: too much' });
    await expect(asked('billNow', { period: 3 }, given)).rejects.toMatchObject({ type: 'ReferenceConflict' });
  });
});
