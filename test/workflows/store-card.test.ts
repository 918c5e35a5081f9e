import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { StoreCardInput } from '../../src/contract/cards.js';
import type { FaultInput } from '../../sandbox/control.js';
import { atFullCounts } from '../support/at-full-counts.js';
import { CARDS, newReference } from '../support/charges.js';
import { customerBefore, pendingConsent, STORE, storedCard, storeInput, storingSlowly } from '../support/cards.js';
import { flowProblems } from '../support/flow-health.js';
import { flowOf, plantOnce } from '../support/flows.js';
import { movements } from '../support/payments.js';
import { resetToEachTask } from '../support/resets.js';
import { startStack } from '../support/stack.js';
import { type StackWithExpectations, withExpectations } from '../support/expected-ledger.js';
import { inTurn } from '../support/counts.js';

const HELD_AND_RELEASED = ['authorization Succeed 6000 USD', 'void Succeed 6000 USD'];
const NOT_STORED = { status: 'consentedNotStored', money: { status: 'voided' } };

let stack: StackWithExpectations;
beforeAll(async () => {
  stack = withExpectations(await startStack({ pendingMs: 500 }));
});
afterEach(async () => {
  await stack.expected.check();
});
afterAll(async () => {
  await stack?.close();
});

async function whileFault<Answer>(fault: FaultInput, act: () => Promise<Answer>): Promise<Answer> {
  const { id } = await stack.sandbox.addFault(fault);
  const answer = await act();
  await stack.sandbox.removeFault(id).catch(() => undefined);
  return answer;
}

async function cardsOf(customerId: string): Promise<string[]> {
  return (await stack.holdfast.listCards({ customerId })).cards.map(({ token }) => token);
}

describe('a card', () => {
  test('is stored after a consent that takes no money, listed, and removed', async () => {
    const input = await storeInput(stack);
    const stored = await stack.holdfast.storeCard(input);
    expect(stored).toMatchObject({
      status: 'stored',
      last4Digits: '1111',
      vendor: 'VISA',
      token: input.paymentMethod.token,
      consentTransactionId: expect.stringMatching(/^\d{15}$/),
      money: { status: 'voided', evidence: { knownBy: 'reply' } },
    });
    expect(stored).not.toHaveProperty('alreadyStored');
    expect(await movements(stack, input.reference)).toEqual(HELD_AND_RELEASED);
    expect(await stack.holdfast.explain(input.reference)).toContain('on file with customer');
    // Asked again long after its end.
    expect(await stack.holdfast.storeCard(input)).toEqual(stored);
    await expect(
      stack.holdfast.storeCard({ ...input, customer: { customerReference: 'another' } }),
    ).rejects.toMatchObject({ type: 'ReferenceConflict' });

    if (stored.status !== 'stored') throw new Error('not stored');
    const { customerId, token } = stored;
    expect((await stack.holdfast.listCards({ customerId })).cards).toMatchObject([
      {
        token,
        last4Digits: '1111',
        expirationDate: expect.stringMatching(/^\d\d\/\d{4}$/),
        createdAt: expect.any(String),
      },
    ]);
    const removal = { customerId, token, commandId: 'gone' };
    expect(await stack.holdfast.removeCard(removal)).toEqual({ customerId, token, status: 'removed' });
    expect(await stack.holdfast.removeCard(removal)).toMatchObject({ status: 'removed' });
    expect(await cardsOf(customerId)).toEqual([]);
    await expect(stack.holdfast.removeCard({ ...removal, token: randomUUID() })).rejects.toMatchObject({
      type: 'ReferenceConflict',
    });
    await expect(stack.holdfast.removeCard({ customerId, token })).rejects.toMatchObject({ type: 'NotFound' });
    await expect(stack.holdfast.listCards({ customerId: randomUUID() })).rejects.toMatchObject({ type: 'NotFound' });
  });

  test('is stored after a consent that is charged, with the customer that is there already', async () => {
    const { customerId } = await storedCard(stack);
    const customer = { customerReference: newReference('customer') };
    const first = await stack.holdfast.storeCard(await storeInput(stack, { customer }));
    const input = await storeInput(stack, { customer, consent: { by: 'charge', for: 'cardOnFile' } });
    const second = await stack.holdfast.storeCard(input);
    expect(second).toMatchObject({
      status: 'stored',
      money: { status: 'kept' },
      // The same number under another token.
      sameCard: [(first as { token: string }).token],
    });
    expect(second).toMatchObject({ customerId: (first as { customerId: string }).customerId });
    expect((second as { customerId: string }).customerId).not.toBe(customerId);
    expect(await movements(stack, input.reference)).toEqual(['charge Succeed 6000 USD']);
  });

  test('whose consent is declined is not stored', async () => {
    const { customer, customerId } = await customerBefore(stack);
    const input = await storeInput(stack, { customer }, CARDS.declines);
    expect(await stack.holdfast.storeCard(input)).toMatchObject({ status: 'declined' });
    expect(await movements(stack, input.reference)).toEqual(['authorization Failed 6000 USD']);
    expect(await cardsOf(customerId)).toEqual([]);
  });

  test('whose consent pends is stored once an event or a read says that it succeeded', async () => {
    const input = await storeInput(stack, {}, CARDS.pendsThenSucceeds);
    expect(await stack.holdfast.storeCard(input)).toMatchObject({ status: 'pending' });
    const stored = await flowOf(stack, input).result();
    expect(stored).toMatchObject({ status: 'stored', consentTransactionId: expect.any(String) });
    expect(['webhook', 'poll']).toContain(stored.evidence.knownBy);
    expect(await movements(stack, input.reference)).toEqual(HELD_AND_RELEASED);
  });

  test('is stored once with one customer when every reply is lost', async () => {
    const lost = { action: 'drop_reply', method: 'POST', times: 1 } as const;
    const input = await storeInput(stack);
    await stack.sandbox.addFault({ ...lost, path: '/customers' });
    await stack.sandbox.addFault({ ...lost, path: '*/payment-methods/*' });
    await plantOnce(stack, input, { ...lost, path: '*/authorizations' });
    await plantOnce(stack, input, { ...lost, path: '*/voids' });
    const stored = await stack.holdfast.storeCard(input, { waitFor: '30 seconds' });
    expect(stored).toMatchObject({ status: 'stored', money: { status: 'voided' } });
    expect(await movements(stack, input.reference)).toEqual(HELD_AND_RELEASED);
    expect(await cardsOf((stored as { customerId: string }).customerId)).toEqual([input.paymentMethod.token]);
  });

  test('of a customer who is created by two flows at once is stored with the one customer', async () => {
    const customer = { customerReference: newReference('customer') };
    const inputs = await Promise.all([storeInput(stack, { customer }), storeInput(stack, { customer })]);
    // Both have looked before either has created.
    const ended = await whileFault({ action: 'delay', method: 'GET', path: '/customers*', delay_ms: 300 }, () =>
      Promise.all(inputs.map((input) => stack.holdfast.storeCard(input))),
    );
    expect(ended.map(({ status }) => status)).toEqual(['stored', 'stored']);
    const ids = ended.map((one) => ('customerId' in one ? one.customerId : ''));
    expect(ids[0]).toBe(ids[1]);
    expect(await cardsOf(ids[0] ?? '')).toHaveLength(2);
  });

  test('that is on file already is said to be so', async () => {
    const customer = { customerReference: newReference('customer') };
    const input = await storeInput(stack, { customer });
    await stack.holdfast.storeCard(input);
    const again = await stack.holdfast.storeCard({ ...input, reference: newReference() });
    expect(again).toMatchObject({ status: 'stored', alreadyStored: true, token: input.paymentMethod.token });
  });
});

describe('a buyer whose card could not be put on file is not asked for a consent', () => {
  async function expectUnasked(input: StoreCardInput, code: string): Promise<void> {
    expect(await stack.holdfast.storeCard(input)).toMatchObject({
      status: 'notExecuted',
      code,
      evidence: { proof: 'no money operation was ever sent' },
    });
    expect(await movements(stack, input.reference)).toEqual([]);
  }

  test('because its token has expired, or never was', async () => {
    const paymentMethod = { type: 'tokenized' as const, token: randomUUID() };
    await expectUnasked(await storeInput(stack, { paymentMethod }), 'tokenExpired');
  });

  test('because it is on file with another customer', async () => {
    const { token } = await storedCard(stack);
    const paymentMethod = { type: 'tokenized' as const, token };
    await expectUnasked(await storeInput(stack, { paymentMethod }), 'storedElsewhere');
  });

  test('because the customer has as many cards as there can be', async () => {
    const { customer, putOnFile } = await customerBefore(stack);
    for (let stored = 0; stored < 99; stored += 1) await putOnFile();
    // There is room for one more, until somebody else takes it.
    const early = await pendingConsent(stack, { customer });
    await putOnFile();
    await expectUnasked(await storeInput(stack, { customer }), 'cardLimit');
    expect(await early.succeeds()).toMatchObject({ ...NOT_STORED, code: 'cardLimit' });
  });
});

describe('a card that can not be stored after the consent', () => {
  test.each([
    ['a hold', 'authorization', 'undo', { status: 'voided' }, HELD_AND_RELEASED],
    ['a charge', 'charge', 'undo', { status: 'refunded' }, ['charge Succeed 6000 USD', 'refund Succeed 6000 USD']],
    ['a charge that is to be kept', 'charge', 'keep', { status: 'kept' }, ['charge Succeed 6000 USD']],
  ] as const)('is said to be so, and what became of %s', async (_what, by, onNotStored, money, moved) => {
    const input = await storeInput(stack, { consent: { by }, onNotStored });
    const refused = { ...STORE, action: 'status', status: 400 } as const;
    const ended = await whileFault(refused, () => stack.holdfast.storeCard(input));
    expect(ended).toMatchObject({
      status: 'consentedNotStored',
      code: 'refused',
      consentTransactionId: expect.any(String),
      money,
    });
    expect(await movements(stack, input.reference)).toEqual(moved);
    expect(await stack.holdfast.explain(input.reference)).toContain(`the money of the consent: ${money.status}`);
  });

  test('because another customer has got it while the consent was pending is said to be so', async () => {
    const { input, succeeds } = await pendingConsent(stack);
    const { paymentMethod } = input;
    expect(await stack.holdfast.storeCard(await storeInput(stack, { paymentMethod }))).toMatchObject({
      status: 'stored',
    });
    expect(await succeeds()).toMatchObject({ ...NOT_STORED, code: 'storedElsewhere' });
    expect(await movements(stack, input.reference)).toEqual(HELD_AND_RELEASED);
  });

  test('although it may have been is looked for before the consent is undone', async () => {
    const input = await storeInput(stack);
    // Stored, the reply is lost, and then it is refused: the refusal is not believed.
    const lost = await stack.sandbox.addFault({ ...STORE, action: 'drop_reply', times: 1 });
    const refused = await stack.sandbox.addFault({ ...STORE, action: 'status', status: 404 });
    const stored = await stack.holdfast.storeCard(input, { waitFor: '30 seconds' });
    await Promise.all([lost, refused].map(({ id }) => stack.sandbox.removeFault(id).catch(() => undefined)));
    expect(stored).toMatchObject({ status: 'stored', money: { status: 'voided' } });
  });
});

describe('storing a card', () => {
  test('needs an e-mail where network tokens are wanted, also of a customer who is there already', async () => {
    const input = await storeInput(stack);
    await expect(stack.holdfast.storeCard({ ...input, networkTokens: true })).rejects.toMatchObject({
      type: 'InvalidInput',
      faults: [expect.stringContaining('customer.email: is missing')],
    });
    await stack.holdfast.storeCard(input);
    const customer = { ...input.customer, email: 'ada@shop.example' };
    const other = await storeInput(stack, { customer, networkTokens: true });
    await expect(stack.holdfast.storeCard(other)).rejects.toMatchObject({
      type: 'InvalidInput',
      message: expect.stringContaining('exists without one'),
    });
    const withEmail = { customerReference: newReference('customer'), email: 'ada@shop.example' };
    expect(
      await stack.holdfast.storeCard(await storeInput(stack, { customer: withEmail, networkTokens: true })),
    ).toMatchObject({ status: 'stored' });
  });

  test('is followed to its end when it is cancelled once money may have moved', async () => {
    const input = await storeInput(stack);
    const { storing } = await storingSlowly(stack, input, 1_500);
    await flowOf(stack, input).cancel();
    expect(await storing).toMatchObject({ status: 'stored', money: { status: 'voided' } });
    expect(await stack.holdfast.status(input.reference)).toMatchObject({ cancelRequested: true });
  });

  // A worker that was killed is noticed after 15 seconds.
  atFullCounts('goes on where a killed worker left it', async () => {
    const input = await storeInput(stack);
    const { storing } = await storingSlowly(stack, input, 2_000);
    await stack.replaceWorker();
    expect(await storing).toMatchObject({ status: 'stored' });
    expect(await movements(stack, input.reference)).toEqual(HELD_AND_RELEASED);
  });

  test.each([
    ['a hold', {}],
    ['a charge that was refunded', { consent: { by: 'charge' } }],
  ] as const)('by %s is not done again by a reset', async (_what, overrides) => {
    const input = await storeInput(stack, overrides);
    const fault: FaultInput = { ...STORE, action: 'status', status: 400 };
    const store = () => stack.holdfast.storeCard(input);
    const first = await ('consent' in overrides ? whileFault(fault, store) : store());
    const { reference: _same, ...outcome } = first as unknown as Record<string, unknown>;
    const before = await stack.sandbox.ledger();
    const takes = inTurn(6);
    await resetToEachTask(
      stack,
      flowOf(stack, input).workflowId,
      async (runId) => {
        const again = await stack.temporal.workflow.getHandle(flowOf(stack, input).workflowId, runId).result();
        const { transactionId, consentTransactionId, paymentId, customerId } = outcome;
        expect(again).toMatchObject({ transactionId, consentTransactionId, paymentId, customerId });
      },
      (task) => task === 0 || takes(task),
    );
    expect(await stack.sandbox.ledger()).toEqual(before);
  });
});

test('a token that expires while the consent pends is not on file, and the consent is undone', async () => {
  const { succeeds } = await pendingConsent(stack);
  await stack.sandbox.advanceClock(25 * 3_600_000);
  expect(await succeeds()).toMatchObject({ ...NOT_STORED, code: 'tokenExpired' });
});

test('no workflow task failed in any of this', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
