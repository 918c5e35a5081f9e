import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { withRisk, type ProfileUnit } from '../../tools/stack/profile-units.js';
import { newReference } from '../support/charges.js';
import { MOCK_FRIENDLY, movements } from '../support/payments.js';
import { startStack } from '../support/stack.js';
import { type StackWithExpectations, withExpectations } from '../support/expected-ledger.js';

const UNIT: ProfileUnit = withRisk({
  name: 'risky',
  appId: 'holdfast-sandbox-risky',
  privateKey: 'sandbox-private-key-risky',
  publicKey: 'sandbox-public-key-risky',
  profile: {},
});

let stack: StackWithExpectations;
beforeAll(async () => {
  stack = withExpectations(await startStack({ units: [UNIT] }));
});
afterEach(async () => {
  await stack.expected.check();
});
afterAll(async () => {
  await stack?.close();
});

/** Its risk is analysed once it is held. */
async function held() {
  const { token } = await stack.sandbox.tokenize({ cardNumber: '4111111111111111', publicKey: UNIT.publicKey });
  return {
    reference: newReference(randomUUID().slice(0, 4)),
    amount: MOCK_FRIENDLY,
    currency: 'USD',
    businessUnit: UNIT.name,
    paymentMethod: { type: 'tokenized' as const, token },
    risk: { when: 'after' as const },
  };
}

describe('money that is held while its risk is analysed', () => {
  test('can be captured once that is approved, although its token has been used up', async () => {
    const input = await held();
    expect(await stack.holdfast.authorize(input)).toMatchObject({ status: 'authorized' });
    expect(await stack.holdfast.capture(input.reference)).toMatchObject({ status: 'succeeded' });
    expect(await stack.holdfast.authorize(input)).toMatchObject({ status: 'captured', risk: { decision: 'approve' } });
  });

  test('is not forgotten where the analysis is refused: an operator decides, and it is released', async () => {
    const input = await held();
    await stack.sandbox.addFault({ action: 'status', status: 400, method: 'POST', path: '*/risk-analyses', times: 1 });
    expect(await stack.holdfast.authorize(input)).toMatchObject({ status: 'underReview' });
    expect(await stack.holdfast.status(input.reference)).toMatchObject({
      needsOperator: true,
      operatorReason: expect.stringMatching(
        /^no risk analysis was made \(.+\); `decideReview` or the time limit ends this$/,
      ),
    });
    const decision = { decision: 'decline', who: 'ann@risk', why: 'nobody knows' } as const;
    await stack.holdfast.decideReview(input.reference, decision);
    expect(await stack.holdfast.authorize(input, { waitFor: '30 seconds' })).toMatchObject({
      status: 'voided',
      reason: 'risk declined',
    });
    expect(await movements(stack, input.reference)).toEqual([
      `authorization Succeed ${MOCK_FRIENDLY} USD`,
      `void Succeed ${MOCK_FRIENDLY} USD`,
    ]);
  });

  test('takes one decision under one command id: another one under it is refused', async () => {
    const input = { ...(await held()), billingAddress: { email: 'manual-review-hub@email.com' } };
    expect(await stack.holdfast.authorize(input)).toMatchObject({ status: 'underReview' });
    const approve = { commandId: 'd-1', decision: 'approve', who: 'ann@risk', why: 'known buyer' } as const;
    const first = await stack.holdfast.decideReview(input.reference, approve);
    expect(await stack.holdfast.decideReview(input.reference, approve)).toEqual(first);
    await expect(
      stack.holdfast.decideReview(input.reference, { ...approve, decision: 'decline' }),
    ).rejects.toMatchObject({ type: 'ReferenceConflict' });
    expect(await stack.holdfast.status(input.reference)).toMatchObject({ status: 'authorized' });
  });
});
