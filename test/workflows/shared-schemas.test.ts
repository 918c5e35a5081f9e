import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  BILLING_TASK_QUEUE,
  cardWorkflowId,
  PAYMENTS_TASK_QUEUE,
  paymentWorkflowId,
  SIGNAL_NAMES,
  subscriptionWorkflowId,
  UPDATE_NAMES,
} from '../../src/contract/names.js';
import { CARDS, chargeInput, newReference } from '../support/charges.js';
import { startStack, type TestStack } from '../support/stack.js';
import { dailyInput, subscriptionOn } from '../support/stack-subscriptions.js';
import { NOTIFY_SECRET } from '../support/telling.js';
import { until } from '../support/until.js';

// Workflows share the contract's schemas, frozen from outside. A schema that can't work frozen would fail
// the workflow task for ever, so each field is tried here inside a real worker, right and wrong.
let stack: TestStack;
beforeAll(async () => {
  const workerEnv = {
    HOLDFAST_NOTIFY_SECRET: NOTIFY_SECRET,
    HOLDFAST_NOTIFY_HOSTS: '127.0.0.1',
    HOLDFAST_NOTIFY_PRIVATE: '1',
  };
  stack = await startStack({ billing: true, webhook: false, pendingMs: 3_600_000, workerEnv });
});
afterAll(async () => {
  await stack?.close();
});

async function startRaw(input: unknown, reference = newReference()) {
  const base = { reference, amount: 1095, currency: 'USD', paymentMethod: { type: 'tokenized', token: randomUUID() } };
  const merged = typeof input === 'object' && input !== null && !Array.isArray(input) ? { ...base, ...input } : input;
  return await stack.temporal.workflow.start('charge', {
    workflowId: paymentWorkflowId(reference),
    taskQueue: PAYMENTS_TASK_QUEUE,
    args: [merged],
  });
}

const WRONG: [string, unknown][] = [
  ['no object', 'charge please'],
  ['null', null],
  ['an array', [1, 2]],
  ['reference', { reference: 'with space' }],
  ['amount', { amount: 1.5 }],
  ['amount as text', { amount: '1095' }],
  ['currency', { currency: 'usd' }],
  ['payment method', { paymentMethod: { type: 'untokenized', cardNumber: 'x' } }],
  ['token', { paymentMethod: { type: 'tokenized', token: 7 } }],
  ['plain CVV', { paymentMethod: { type: 'tokenized', token: randomUUID(), encryptedCvv: '123' } }],
  ['business unit', { businessUnit: 'no spaces allowed' }],
  ['statement descriptor', { statementSoftDescriptor: '' }],
  ['customer id', { customerId: 'me' }],
  ['order', { order: { lineItems: [{ quantity: 0, unitPrice: -1, colour: 'red' }] } }],
  ['address', { clientIpAddress: '999.1.1.1' }],
  ['card on file', { cardOnFile: { entryMode: 'always' } }],
  ['unknown field', { colour: 'red' }],
];

describe('inside a worker', () => {
  test.each(WRONG)('wrong input (%s) ends in InvalidInput, not in a stuck task', async (_name, input) => {
    const handle = await startRaw(input);
    await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'InvalidInput' } });
  });

  test('right input with every field set is taken', async () => {
    const input = await chargeInput(stack.sandbox, CARDS.succeeds, {
      businessUnit: 'default',
      statementSoftDescriptor: 'SHOP',
      order: { id: 'o-1', lineItems: [{ id: '1', name: 'Tea', quantity: 1, unitPrice: 1095 }] },
      clientIpAddress: '2001:db8::7',
      cardOnFile: { entryMode: 'consent_transaction', consentTransactionId: 'c-1' },
    });
    const handle = await startRaw(input, input.reference);
    expect(await handle.result()).toMatchObject({ status: 'succeeded' });
  });

  test('malformed events and commands are counted or refused, and the flow goes on', async () => {
    const input = await chargeInput(stack.sandbox, CARDS.pendsThenSucceeds);
    const pending = await stack.holdfast.charge(input);
    const handle = stack.temporal.workflow.getHandle(paymentWorkflowId(input.reference));
    for (const payload of [
      undefined,
      null,
      'x',
      7,
      {},
      { hash: 'h', amount: -1 },
      { ...validEvent(), trusted: 'yes' },
    ]) {
      await handle.signal(SIGNAL_NAMES.transactionEvent, payload);
    }
    await handle.signal('nobodyKnowsThis', 1);
    for (const argument of [undefined, null, 'x', {}, { status: 'won', who: 'a', why: 'b' }]) {
      await expect(handle.executeUpdate('settleManually', { args: [argument] })).rejects.toThrow();
      await expect(handle.executeUpdate('outcome', { args: [argument] })).rejects.toThrow();
    }
    await expect(handle.executeUpdate('retryNow', { args: [{ who: 7 }] })).rejects.toThrow();
    const status = await until(
      () => stack.holdfast.status(input.reference),
      ({ ignored }) => ignored['malformedEvent'] === 7,
    );
    expect(status).toMatchObject({ status: 'pending', ignored: { malformedEvent: 7, unknownSignal: 1 } });
    await stack.sandbox.complete(pending.transactionId ?? '', { status: 'Succeed' });
    await stack.holdfast.retryNow(input.reference, { who: 'ann', why: 'test' });
    expect(await handle.result()).toMatchObject({ status: 'succeeded' });
  });
});

/** Every field wrong at once, so that each of them is read in a worker. */
const ALL_WRONG: [string, string, (name: string) => string, Record<string, unknown>, readonly string[]][] = [
  [
    'subscription',
    BILLING_TASK_QUEUE,
    subscriptionWorkflowId,
    {
      customerId: 'me',
      token: 7,
      consentTransactionId: '',
      entryMode: 'always',
      amount: 9.99,
      currency: 'eur',
      interval: { every: 0, unit: 'moon' },
      anchor: '2027-02-30',
      timeZone: 'Europe/Rom',
      billAt: '25:00',
      trialDays: -1,
      billedThrough: 0,
      periods: 0,
      endsOn: 'never',
      missedPeriods: 'all',
      dunning: { retryDays: [0], localHour: 24, maxAttempts: 0, onGivenUp: 'cry' },
      jitter: 'a while',
      notify: { url: 'ftp://shop.example' },
      businessUnit: 'no spaces allowed',
      statementSoftDescriptor: '',
    },
    ['anchor: ', 'billedThrough: ', 'dunning.localHour: ', 'interval.unit: ', 'jitter: ', 'notify.url: ', 'timeZone: '],
  ],
  [
    'storeCard',
    PAYMENTS_TASK_QUEUE,
    paymentWorkflowId,
    {
      amount: 1.5,
      currency: 'usd',
      paymentMethod: { type: 'untokenized' },
      customer: { customerReference: '', firstName: '', lastName: '', email: 'nobody' },
      consent: { for: 'ever', by: 'word' },
      networkTokens: 'yes',
      onNotStored: 'cry',
      billingAddress: { country: 'Atlantis', email: 'nobody' },
    },
    ['consent.by: ', 'customer.email: ', 'networkTokens: ', 'onNotStored: '],
  ],
];

describe('inside a worker, of cards and subscriptions', () => {
  test.each(ALL_WRONG)(
    '%s with every field wrong ends in InvalidInput',
    async (type, taskQueue, idOf, wrong, faults) => {
      const reference = newReference();
      const options = { workflowId: idOf(reference), taskQueue, args: [{ reference, ...wrong }] };
      const handle = await stack.temporal.workflow.start(type, options);
      const error = await handle.result().catch((failure: unknown) => failure);
      expect(error).toMatchObject({ cause: { type: 'InvalidInput' } });
      for (const fault of faults) expect(String((error as { cause: Error }).cause.message)).toContain(fault);
    },
  );

  test.each(['listCards', 'removeCard'])('%s with every field wrong ends in InvalidInput', async (type) => {
    const input = { customerId: 'me', commandId: newReference(), businessUnit: '', token: 7 };
    const workflowId = cardWorkflowId(input.customerId, input.commandId);
    const handle = await stack.temporal.workflow.start(type, {
      workflowId,
      taskQueue: PAYMENTS_TASK_QUEUE,
      args: [input],
    });
    await expect(handle.result()).rejects.toMatchObject({ cause: { type: 'InvalidInput' } });
  });

  test('a subscription with every field set is taken, and malformed commands are refused', async () => {
    const input = await dailyInput(stack, 2, {
      consentTransactionId: 'c-1',
      entryMode: 'cof_merchant_initiated_transaction',
      interval: { every: 1, unit: 'month' },
      trialDays: 3,
      // A day of its third period.
      billedThrough: new Date(Date.now() + 75 * 86_400_000).toISOString().slice(0, 10),
      endsOn: '2199-12-31',
      dunning: { retryDays: [2, 4], localHour: 9, maxAttempts: 3, onGivenUp: 'pause' },
      jitter: '1 hour',
      // Nobody listens there.
      notify: { url: 'https://127.0.0.1:9/holdfast' },
      statementSoftDescriptor: 'CLUB',
    });
    expect(await stack.holdfast.subscribe(input)).toMatchObject({
      ...{ status: 'active', billedThrough: 3, nextBill: { period: 4 } },
    });
    const { handle } = subscriptionOn(stack, input);
    const { pause, resume, changeCard, changePlan, cancel, billNow, refundPeriod } = UPDATE_NAMES;
    for (const name of [pause, resume, changeCard, changePlan, cancel, billNow, refundPeriod]) {
      const wrong = {
        token: 7,
        interval: { every: 0, unit: 'moon' },
        billAt: '25:00',
        amount: 0.5,
        period: 0,
        when: 'soon',
      };
      for (const argument of [null, 'x', wrong]) {
        await expect(handle.executeUpdate(name, { args: [argument] })).rejects.toThrow();
      }
    }
    expect(await stack.holdfast.subscription.cancel(input.reference, { when: 'now' })).toMatchObject({
      status: 'cancelled',
    });
    // It would try for days to tell the merchant.
    await handle.terminate();
  });
});

function validEvent() {
  return {
    hash: 'h',
    eventType: 'payment.charge.update',
    created: '2026-01-01T00:00:00.000Z',
    businessUnit: 'default',
    paymentId: randomUUID(),
    trusted: true,
  };
}
