import { afterEach, beforeAll, describe, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import type { TransactionEvent } from '../../../src/contract/messages.js';
import { CARDS } from '../../support/charges.js';
import { movements } from '../../support/payments.js';
import { beginActions, beginHeld, beginHold, type VirtualFlow } from '../../support/virtual-flows.js';
import { answers, beginFlow, DAY, HOUR, inputOf, lostReply, MINUTE, sharedTime, shownRuns } from './context.js';

/** So that a run is followed by the next one within a day of polls. */
const RUN = 100;
const time = sharedTime({}, { suggestRunAfter: () => RUN });
const unit = async (profile: object) => await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile });
beforeAll(async () => {
  await unit({ offers: 'interface' });
});
afterEach(async () => {
  for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
});

const UPDATE = 'payment.authorization.update';
const AUTHORIZATIONS = '*/authorizations';
/** Fields that a service leaves out are signed as empty. */
const NO_SUM = { amount: undefined, currency: undefined };

/** A hold whose authorization pends, after its reads have been refused for a quarter of an hour. */
async function pending(options: Parameters<typeof beginHold>[2] = {}) {
  const hold = await beginHold(time, {}, { card: CARDS.pendsThenSucceeds, ...options });
  const pass = async (ms: number) => await time.passUntil((await time.now()) + ms);
  await pass(HOUR);
  const { transactionId } = await hold.status();
  const says = async (told: Partial<TransactionEvent>) => {
    await hold.event({ eventType: UPDATE, transactionId, ...told });
    await pass(MINUTE);
  };
  return { hold, pass, says };
}

/** What the service has made before its reply is known. */
async function overtake({ status }: Pick<VirtualFlow<unknown>, 'status'>, afterMs = 2_000) {
  await time.passUntil((await time.now()) + afterMs);
  const { paymentId = '' } = await status();
  return { transactionId: (await time.sandbox.ledgerOf({ paymentId })).at(-1)?.transaction_id ?? '' };
}

describe('what pends where no read tells of it is settled by a signed end that lacks', () => {
  test.each<[string, Partial<TransactionEvent>]>([
    ['a currency', { amount: 6_000, currency: undefined }],
    ['an amount', {}],
    ['both', NO_SUM],
  ])('%s', async (_what, sum) => {
    const { hold, says } = await pending();
    await says({ status: 'Succeed', ...sum });
    expect(await hold.status()).toMatchObject({ status: 'authorized', amount: 6_000, needsOperator: false });
    expect(await hold.ask('void')).toMatchObject({ status: 'succeeded' });
  });

  test('both, and says why it has failed', async () => {
    const { hold, says } = await pending();
    await says({ status: 'Failed', category: 'payment_method_declined', ...NO_SUM });
    expect(await hold.outcome()).toMatchObject({
      status: 'declined',
      category: 'payment_method_declined',
      confirmed: true,
    });
  });

  test('both, of a void', async () => {
    const hold = await beginHeld(time);
    const { paymentId = '' } = await hold.status();
    await time.sandbox.addFault({ action: 'result', status: 'Pending', path: `/payments/${paymentId}/voids` });
    const { answer } = await hold.command('void', { commandId: 'released' });
    await time.passUntil((await time.now()) + HOUR);
    const { operation, transactionId } = await hold.status();
    expect(operation).toBe('void');
    await hold.event({ eventType: 'payment.void.update', transactionId, status: 'Succeed', ...NO_SUM });
    expect(await answer).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'webhook' } });
    expect(await hold.outcome()).toMatchObject({ status: 'voided' });
  });
});

describe('a signed end that comes before the reply', () => {
  test.each<[string, Partial<TransactionEvent>]>([
    ['with all its fields', { amount: 6_000 }],
    ['without a sum', NO_SUM],
  ])('%s settles what the reply calls pending', async (_what, sum) => {
    const hold = await beginHold(time, {}, { card: CARDS.pendsThenSucceeds, faults: [lostReply(AUTHORIZATIONS, 3)] });
    const { transactionId } = await overtake(hold);
    expect((await hold.status()).transactionId).toBeUndefined();
    await hold.event({ eventType: UPDATE, transactionId, status: 'Succeed', ...sum });
    await time.passUntil(hold.startedAt + HOUR);
    expect(await hold.status()).toMatchObject({ status: 'authorized', amount: 6_000, transactionId });
    expect(await movements(time, hold.reference)).toEqual(['authorization Succeed 6000 USD']);
    expect(await hold.ask('void')).toMatchObject({ status: 'succeeded' });
  });

  test('settles a refund of a payment whose flow has ended', async () => {
    const flow = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
    const { paymentId = '' } = await flow.outcome();
    const path = `/payments/${paymentId}/refunds`;
    await time.sandbox.addFault(lostReply(path, 8));
    await time.sandbox.addFault({ action: 'result', status: 'Pending', path });
    const actions = await beginActions(time, { paymentId, currency: 'USD', paymentReference: flow.reference });
    await actions.command('refund', { commandId: 'back', amount: 6_000 });
    // It is sent once reads have been refused for long enough.
    const { transactionId } = await overtake(actions, 21.5 * MINUTE);
    expect((await actions.status()).transactionId).toBeUndefined();
    await actions.event({ eventType: 'payment.refund.update', transactionId, status: 'Succeed', ...NO_SUM });
    await time.passUntil(actions.startedAt + HOUR);
    expect(await actions.status()).toMatchObject({ status: 'idle', needsOperator: false });
    await time.client.workflow.getHandle(actions.workflowId).terminate();
  });

  test('without a sum shows what is never answered', async () => {
    const faults = [lostReply(AUTHORIZATIONS), answers(503, 'POST', AUTHORIZATIONS)];
    const hold = await beginHold(time, {}, { faults });
    const { transactionId } = await overtake(hold);
    await hold.event({ eventType: UPDATE, transactionId, status: 'Succeed', ...NO_SUM });
    await time.passUntil(hold.startedAt + 2 * DAY);
    expect(await hold.status()).toMatchObject({ status: 'authorized', amount: 6_000, transactionId });
    expect(await hold.ask('void')).toMatchObject({ status: 'succeeded' });
  });
});

describe('a signed failure that does not say why, of what no read tells,', () => {
  const FAILED = { status: 'Failed', amount: 6_000 } as const;

  test('is not believed for an hour, and is unconfirmed then: the provider may not have been reached', async () => {
    const { hold, says, pass } = await pending();
    await says(FAILED);
    await pass(HOUR - 5 * MINUTE);
    expect(await hold.status()).toMatchObject({ status: 'pending', needsOperator: false });
    await pass(10 * MINUTE);
    const { paymentId = '' } = await hold.status();
    expect(await hold.outcome()).toMatchObject({
      ...{ status: 'declined', category: 'unknown', confirmed: false, retryable: 'nobody' },
      evidence: { knownBy: 'webhook' },
    });
    expect(time.requests.operations(paymentId, 'authorizations')).toHaveLength(1);
  });

  test('gives way to a signed success within that hour', async () => {
    const { hold, says } = await pending();
    await says(FAILED);
    await says({ status: 'Succeed', ...NO_SUM });
    expect(await hold.status()).toMatchObject({ status: 'authorized' });
    expect(await hold.ask('void')).toMatchObject({ status: 'succeeded' });
  });
});

describe('what is no end of what pends', () => {
  test.each<[string, Partial<TransactionEvent>]>([
    ['that nobody has signed', { status: 'Succeed', trusted: false }],
    ['of another transaction', { status: 'Succeed', transactionId: 'others' }],
    ['of another payment', { status: 'Succeed', paymentId: 'others' }],
    ['of another kind', { status: 'Succeed', eventType: 'payment.dispute.update' }],
    ['that says that it pends', { status: 'Pending' }],
    ['without a status', { unknownStatus: true }],
    ['over a sum that can not be read', { status: 'Succeed', unknownSum: true }],
  ])('is an event %s: a person is asked after a day', async (_what, told) => {
    const { hold, says, pass } = await pending();
    await says({ ...NO_SUM, ...told });
    await pass(DAY);
    expect(await hold.status()).toMatchObject({
      status: 'pending',
      operatorReason: expect.stringMatching(/the service offers no read of the authorization$/),
    });
  });

  test('is one while reads fail, and may be answered yet: it is kept until they are refused', async () => {
    const { hold, says, pass } = await pending({ faults: [answers(503, 'GET', '*/authorizations/*')] });
    await says({ status: 'Succeed', ...NO_SUM });
    await pass(DAY);
    expect(await hold.status()).toMatchObject({
      status: 'pending',
      operatorReason: expect.stringMatching(
        /^no final answer for 24 hours to the authorization \S+; a signed event calls it Succeed, and does not say all/,
      ),
    });
    expect(shownRuns(time, hold.workflowId).length).toBeGreaterThan(1);
    for (const { id } of await time.sandbox.faults()) await time.sandbox.removeFault(id);
    await pass(DAY);
    expect(await hold.status()).toMatchObject({ status: 'authorized' });
    expect(await movements(time, hold.reference)).toEqual(['authorization Succeed 6000 USD']);
    expect(await hold.ask('void')).toMatchObject({ status: 'succeeded' });
  });
});

test.each([
  ['an hour', HOUR],
  ['a minute, when no read counts as refused for good', MINUTE],
])('a signed end without a sum, of a capture that is voided after %s, is kept for it', async (_what, after) => {
  await unit({ offers: 'all', pending_void: 'allowed' });
  const pends = { action: 'result', status: 'Pending' } as const;
  await time.sandbox.settings({ pendingMs: 7 * DAY });
  const hold = await beginHold(time, { captureMode: 'auto' }, { faults: [{ ...pends, path: '*/captures' }] });
  await time.passUntil(hold.startedAt + 2_000);
  const { paymentId = '', transactionId: captureId = '' } = await hold.status();
  await time.sandbox.addFault(answers(404, 'GET', `/payments/${paymentId}/captures/*`));
  await time.passUntil(hold.startedAt + after);
  await time.sandbox.addFault({ ...pends, path: `/payments/${paymentId}/voids` });
  await hold.command('void', { commandId: 'released' });
  await time.passUntil((await time.now()) + MINUTE);
  const { operation, transactionId: voidId = '' } = await hold.status();
  expect(operation).toBe('void');
  await time.sandbox.addFault(answers(404, 'GET', `/payments/${paymentId}/voids/*`));
  const category = 'payment_method_declined';
  const ended = { eventType: 'payment.capture.update', transactionId: captureId, status: 'Failed', category } as const;
  await hold.event({ ...ended, ...NO_SUM });
  await time.passUntil((await time.now()) + HOUR);
  await hold.event({ eventType: 'payment.void.update', transactionId: voidId, status: 'Succeed', ...NO_SUM });
  await time.passUntil((await time.now()) + HOUR);
  expect(await hold.outcome()).toMatchObject({
    status: 'voided',
    transactionId: voidId,
    voided: { status: 'declined', category },
  });
  await time.sandbox.settings({ pendingMs: 10_000 });
});
