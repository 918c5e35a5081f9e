import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { businessUnitsSetting, PLAIN_UNIT, type ProfileUnit } from '../../tools/stack/profile-units.js';
import type { Stored } from '../../src/contract/cards.js';
import { LATER_ENTRY_MODES } from '../../src/contract/payment-input.js';
import { newReference } from '../support/charges.js';
import { storedCard, storeInput } from '../support/cards.js';
import { flowProblems } from '../support/flow-health.js';
import { flowOf } from '../support/flows.js';
import { movements } from '../support/payments.js';
import { resetToEachTask } from '../support/resets.js';
import { inTurn } from '../support/counts.js';
import { startStack, type TestStack } from '../support/stack.js';
import { type StackWithExpectations, withExpectations } from '../support/expected-ledger.js';

const unit = (name: string, profile: ProfileUnit['profile']): ProfileUnit => ({
  name,
  appId: `holdfast-sandbox-${name}`,
  privateKey: `sandbox-private-key-${name}`,
  publicKey: `sandbox-public-key-${name}`,
  profile,
});
/** Its providers want the consent id of that very card. */
const STRICT = unit('strict', { consent_ids: 'strict' });
const OLD = unit('old', {});

/** The units of the test, one of them on an API version without stored cards. */
function settingOfUnits(): string {
  const setting = JSON.parse(businessUnitsSetting([PLAIN_UNIT, STRICT, OLD])) as Record<string, object>;
  return JSON.stringify({ ...setting, old: { ...setting['old'], apiVersion: '1.1.0' } });
}

let stack: StackWithExpectations;
let plain: Stored;
let strict: Stored;
let other: Stored;
beforeAll(async () => {
  const workerEnv = { HOLDFAST_BUSINESS_UNITS: settingOfUnits() };
  stack = withExpectations(await startStack({ webhook: false, units: [STRICT, OLD], workerEnv }));
  const { name: businessUnit, publicKey } = STRICT;
  [plain, strict, other] = await Promise.all([
    storedCard(stack),
    storedCard(stack, { businessUnit, publicKey }),
    storedCard(stack),
  ]);
});
afterEach(async () => {
  await stack.expected.check();
});
afterAll(async () => {
  await stack?.close();
});

const FLOWS = {
  charge: { kind: 'charge', status: 'succeeded' },
  authorize: { kind: 'authorization', status: 'authorized' },
  credit: { kind: 'credit', status: 'succeeded' },
} as const;
type FlowName = keyof typeof FLOWS;
const EACH_FLOW = Object.keys(FLOWS) as FlowName[];

function inputWith(card: Stored, cardOnFile: object | undefined, businessUnit = 'default') {
  return {
    reference: newReference(),
    amount: 6_000,
    currency: 'USD',
    businessUnit,
    customerId: card.customerId,
    paymentMethod: { type: 'tokenized' as const, token: card.token },
    ...(cardOnFile !== undefined && { cardOnFile }),
  } as Parameters<TestStack['holdfast']['charge']>[0];
}

const EVERY_WAY = EACH_FLOW.flatMap((name) => LATER_ENTRY_MODES.map((entryMode) => [name, entryMode] as const));
const taken = inTurn(3);
const WAYS = EVERY_WAY.filter((_, index) => taken(index));

describe('a stored card', () => {
  test.each(WAYS)('is used by %s as %s, with the consent id and without it', async (name, entryMode) => {
    const { consentTransactionId } = plain;
    const inputs = [inputWith(plain, { entryMode, consentTransactionId }), inputWith(plain, { entryMode })];
    const answers = await Promise.all(inputs.map((input) => stack.holdfast[name](input)));
    const { kind, status } = FLOWS[name];
    expect(answers.map((answer) => answer.status)).toEqual([status, status]);
    for (const { reference } of inputs) expect(await movements(stack, reference)).toEqual([`${kind} Succeed 6000 USD`]);
  });

  test.each(EACH_FLOW)(
    'is declined to %s where the provider expects its own consent id and gets another',
    async (name) => {
      const { name: businessUnit } = STRICT;
      const entryMode = 'recurring_subsequent_transaction';
      const right = { entryMode, consentTransactionId: strict.consentTransactionId };
      const wrong = { entryMode, consentTransactionId: '123456789012345' };
      const [good, bad, without] = await Promise.all(
        [right, wrong, { entryMode }].map((cardOnFile) =>
          stack.holdfast[name](inputWith(strict, cardOnFile, businessUnit)),
        ),
      );
      expect([good?.status, bad?.status, without?.status]).toEqual([FLOWS[name].status, 'declined', 'declined']);
    },
  );

  test('is used with a consent id that looks like a card number, which reaches the service whole', async () => {
    const input = inputWith(plain, {
      entryMode: 'cof_merchant_initiated_transaction',
      // Passes every test of a card number.
      consentTransactionId: '378282246310005',
    });
    expect(await stack.holdfast.charge(input)).toMatchObject({ status: 'succeeded' });
    const { events } = await flowOf(stack, input).fetchHistory();
    const [payload] = events?.[0]?.workflowExecutionStartedEventAttributes?.input?.payloads ?? [];
    const [clear] = await (stack.temporal.options.loadedDataConverter.payloadCodecs[0]?.decode([payload ?? {}]) ?? []);
    expect(Buffer.from(clear?.data ?? []).toString()).toContain('"consentTransactionId":"378282246310005"');
  });

  test('that was removed can not be used again', async () => {
    await stack.holdfast.removeCard({ customerId: other.customerId, token: other.token });
    const input = inputWith(other, { entryMode: 'cof_merchant_initiated_transaction' });
    await expect(stack.holdfast.charge(input)).rejects.toMatchObject({ type: 'InvalidInput' });
    expect(await movements(stack, input.reference)).toEqual([]);
  });
});

describe('where the API version has no stored cards', () => {
  const refusal = {
    type: 'InvalidInput',
    message: expect.stringMatching(/Nothing was sent: .*API version 1\.1\.0.*1\.2\.0/),
  };

  test.each(EACH_FLOW)('%s refuses one with the reason, and nothing is sent', async (name) => {
    const input = inputWith(plain, { entryMode: 'recurring_subsequent_transaction' }, OLD.name);
    await expect(stack.holdfast[name](input)).rejects.toMatchObject(refusal);
    expect(await stack.holdfast.status(input.reference)).not.toHaveProperty('paymentId');
    expect(await movements(stack, input.reference)).toEqual([]);
  });

  test('a card is not stored, nor is a customer made for it', async () => {
    const input = await storeInput(stack, { businessUnit: OLD.name });
    await expect(stack.holdfast.storeCard(input)).rejects.toMatchObject(refusal);
    const { customerId } = plain;
    await expect(stack.holdfast.listCards({ customerId, businessUnit: OLD.name })).rejects.toMatchObject({
      type: 'InvalidInput',
      message: expect.stringContaining('1.2.0'),
    });
    const found = await fetch(
      new URL(`/customers?customer_reference=${input.customer.customerReference}`, stack.sandboxUrl),
      { headers: { 'app-id': OLD.appId, 'private-key': OLD.privateKey, 'x-svc-env': 'test', 'api-version': '1.3.0' } },
    );
    expect(found.status).toBe(404);
  });
});

test('a hold that was reauthorized, captured, and then reset at any task moves no more money', async () => {
  const input = inputWith(plain, { entryMode: 'cof_cardholder_initiated_transaction' });
  const { reference } = input;
  await stack.holdfast.authorize(input);
  // Two payments under one reference, the first one's void told to nobody: this test itself looks at the ledger.
  stack.expected.except(
    reference,
    /has 2 payments|payment_id was told|nobody was told of void|2 times for one authorization/,
  );
  const reauthorized = await stack.holdfast.reauthorize(reference, { commandId: 'longer' });
  const captured = await stack.holdfast.capture(reference, { commandId: 'ship' });
  const { transactionId: again } = await stack.holdfast.reauthorize(reference, { commandId: 'longer' });
  expect(again).toBe(reauthorized.transactionId);
  const otherwise = { commandId: 'longer', entryMode: 'cof_merchant_initiated_transaction' } as const;
  await expect(stack.holdfast.reauthorize(reference, otherwise)).rejects.toMatchObject({ type: 'ReferenceConflict' });
  const before = await stack.sandbox.ledger();
  const { workflowId } = flowOf(stack, input);
  const takes = inTurn(8);
  const look = async (runId: string): Promise<void> => {
    const again: unknown = await stack.temporal.workflow.getHandle(workflowId, runId).result();
    const { transactionId, paymentId } = captured;
    expect(again).toMatchObject({
      status: 'captured',
      transactionId,
      paymentId,
      authorizationId: reauthorized.transactionId,
    });
  };
  await resetToEachTask(stack, workflowId, look, (task) => task === 0 || takes(task));
  expect(await stack.sandbox.ledger()).toEqual(before);
});

test('no workflow task failed in any of this', async () => {
  expect(await flowProblems(stack.temporal)).toEqual([]);
});
