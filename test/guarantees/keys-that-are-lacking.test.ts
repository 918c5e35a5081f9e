import { randomBytes } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { Client } from '@temporalio/client';
import { createBillingPort } from '../../src/client/billing-port.js';
import type { HoldfastError } from '../../src/client/errors.js';
import { HoldfastClient } from '../../src/client/holdfast-client.js';
import { createDataConverter } from '../../src/security/data-converter.js';
import { parseKeyRing } from '../../src/security/key-ring.js';
import { atFullCounts } from '../support/at-full-counts.js';
import { CARDS, chargeInput } from '../support/charges.js';
import { TEST_ENCRYPTION_KEYS } from '../support/data-converter.js';
import { eventIds, flowOf, plantOnce } from '../support/flows.js';
import { auditCharges } from '../../tools/audit/audit-charges.js';
import { MOCK_FRIENDLY } from '../support/payments.js';
import { startStack } from '../support/stack.js';
import { type StackWithExpectations, withExpectations } from '../support/expected-ledger.js';
import { askUntilFinal } from '../support/ask-charges.js';
import { until } from '../support/until.js';

const OTHER_KEYS = `other:${randomBytes(32).toString('base64')}`;

let stack: StackWithExpectations;
beforeAll(async () => {
  stack = withExpectations(await startStack({ pendingMs: 3_600_000, webhook: false }));
});
afterEach(async () => {
  await stack.expected.check();
});
afterAll(async () => {
  await stack?.close();
});

function strangersClient(): Client {
  const { connection } = stack.temporal;
  const dataConverter = createDataConverter(parseKeyRing(OTHER_KEYS));
  return new Client({ connection, namespace: stack.namespace, dataConverter });
}

describe('a client whose keys the worker lacks', () => {
  let stranger: HoldfastClient;
  beforeAll(() => {
    stranger = new HoldfastClient(strangersClient());
  });

  test('that asks for a charge which has ended is told that it can not read the answer, not that the input differs', async () => {
    const input = await chargeInput(stack.sandbox);
    await stack.holdfast.charge(input);
    await expect(stranger.charge(input)).rejects.toMatchObject({
      type: 'UnexpectedResponse',
      message: expect.stringContaining("can't decode"),
    });
    expect(await stack.holdfast.charge(input)).toMatchObject({ status: 'succeeded' });
  });

  test('that asks for a charge under way is told nothing about what was sent, and the charge goes on', async () => {
    const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
    const { transactionId } = await stack.holdfast.charge(input);
    await expect(stranger.charge(input)).rejects.toMatchObject({
      type: 'UnexpectedResponse',
      message: expect.not.stringMatching(/nothing was|never|not executed|new reference/i),
    });

    await stack.sandbox.complete(transactionId ?? '', { status: 'Succeed' });
    await stack.holdfast.retryNow(input.reference);
    const asked = await askUntilFinal(stack.holdfast, input, 10_000);
    expect(auditCharges([asked], await stack.sandbox.ledger(input.reference))).toEqual([]);
  });

  test('that settles or wakes a charge under way is refused, and changes nothing', async () => {
    const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
    const { transactionId = '' } = await stack.holdfast.charge(input);
    const decision = { status: 'declined', who: 'a stranger', why: 'no key' } as const;
    await expect(stranger.settleManually(input.reference, decision)).rejects.toMatchObject({
      type: 'UnexpectedResponse',
    });
    await expect(stranger.retryNow(input.reference)).rejects.toMatchObject({ type: 'UnexpectedResponse' });
    const status = await stack.holdfast.status(input.reference);
    expect(status).toMatchObject({ status: 'pending', ignored: {}, transactionId });
    expect(status).not.toHaveProperty('outcome');
  });

  test('that starts a charge of its own moves nothing, and is not told that nothing was sent', async () => {
    const input = await chargeInput(stack.sandbox);
    expect(await stranger.charge(input, { waitFor: 500 })).toMatchObject({ status: 'unknown' });
    await flowOf(stack, input).terminate('nobody has its key');
    expect(await stack.sandbox.ledger(input.reference)).toEqual([]);
  });
});

test('a refund whose answer the worker of a subscription can not read is not taken for refused', async () => {
  const input = await chargeInput(stack.sandbox, CARDS.succeeds, { amount: MOCK_FRIENDLY });
  await stack.holdfast.charge(input);
  await stack.stopWorker();
  const newKey = `new:${randomBytes(32).toString('base64')}`;
  await stack.startWorker({ HOLDFAST_ENCRYPTION_KEYS: `${newKey},${TEST_ENCRYPTION_KEYS}` });
  const { refund } = createBillingPort(stack.temporal);
  const { currency } = input;
  const of = { payment: input.reference, paymentId: undefined, currency, businessUnit: 'default' };
  const call = { ...of, commandId: 'a', amount: undefined };
  // That is the point: it was given, and who asked for it could not be told so.
  stack.expected.except(input.reference, /nobody was told of refund/);
  await expect(refund(call)).rejects.toMatchObject({ type: 'UnexpectedResponse' });
  const [charge] = await stack.sandbox.ledger(input.reference);
  const ofPayment = (await stack.sandbox.ledger()).filter((entry) => entry.payment_id === charge?.payment_id);
  expect(ofPayment.map(({ kind, status }) => `${kind} ${status}`)).toEqual(['charge Succeed', 'refund Succeed']);
  await stack.replaceWorker();
});

describe('a charge whose worker died inside the first workflow task', () => {
  // Two workers that are lost are waited for.
  atFullCounts('is not failed by a worker that lacks the key of its input, and ends once a worker has it', async () => {
    const input = await chargeInput(stack.sandbox);
    const slow = await plantOnce(stack, input, {
      action: 'delay',
      method: 'POST',
      path: '*/charges',
      delay_ms: 1_500,
    });
    const answer = stack.holdfast.charge(input, { waitFor: 0 }).then(
      ({ status }) => status,
      ({ message }: HoldfastError) => message,
    );
    await slow.met();
    await stack.worker().kill();
    expect(await eventIds(stack, input, 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED')).toEqual([]);
    await until(
      () => stack.sandbox.ledger(input.reference),
      (ledger) => ledger.length === 1,
    );
    // Whether the engine took the question before the worker died is chance; what is never said is that nothing was sent.
    expect(await answer).toMatch(/^unknown$|may have started.*Never repeat it under a new reference/s);

    await stack.startWorker({ HOLDFAST_ENCRYPTION_KEYS: OTHER_KEYS });
    // The first try was lost with its worker, so a third one means that this worker has failed the second.
    await until(
      async () => (await flowOf(stack, input).describe()).raw.pendingWorkflowTask?.attempt ?? 0,
      (attempt) => attempt >= 3,
    );
    expect((await flowOf(stack, input).describe()).status.name).toBe('RUNNING');

    await stack.replaceWorker();
    const asked = await askUntilFinal(stack.holdfast, input, 40_000);
    expect(asked.answer).toMatchObject({ status: 'succeeded' });
    expect(auditCharges([asked], await stack.sandbox.ledger(input.reference))).toEqual([]);
  });
});
