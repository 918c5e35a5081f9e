import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { storedInSkippedTime } from '../../support/cards.js';
import { movements } from '../../support/payments.js';
import { resetToFirstTask } from '../../support/resets.js';
import { beginActions, beginHeld, type VirtualFlow } from '../../support/virtual-flows.js';
import { answers, DAY, failsWith, heldElsewhere, HOUR, MINUTE, OPERATOR, SECOND, sharedTime } from './context.js';

const time = sharedTime();
const HELD = 'authorization Succeed 20000 USD';
const PART = 'capture Succeed 6000 USD';
const WORD = 'PartiallyCaptured';
const CALLS_IT = `the service calls the payment "${WORD}", a status that nothing is known of`;

const profile = async (given: object) =>
  await time.sandbox.putBusinessUnit({ app_id: DEFAULT_UNIT.appId, profile: given });

/** From now on a read of a payment shows one status as another word. */
function shows(status: string, word: string): void {
  const { sandbox } = time.simulation.world;
  sandbox.through = async (request, serve) => {
    const reply = await serve(request);
    if (request.method !== 'GET' || !/\/payments\/[^/?]+(\?|$)/.test(request.path)) return reply;
    return { ...reply, body: Buffer.from(String(reply.body).replaceAll(`"status":"${status}"`, `"status":"${word}"`)) };
  };
}

function showsAll(): void {
  time.simulation.world.sandbox.through = (request, serve) => serve(request);
}

/** A void after a capture would cancel that. */
beforeEach(async () => await profile({ partial_capture_void: 'cancels' }));
afterEach(async () => {
  showsAll();
  await profile({ partial_capture_void: 'refused' });
});

/** A hold of which others have captured a part, so that the service calls its payment by another word. */
async function partly(input: object = {}) {
  const hold = await beginHeld(time, { amount: 20_000, ...input });
  const { paymentId = '' } = await hold.status();
  shows('Captured', WORD);
  const { data } = await time.provider.createCapture(paymentId, { amount: 6_000 }, { idempotencyKey: randomUUID() });
  const { id: transactionId } = data;
  const event = { eventType: 'payment.capture.create', status: 'Succeed', amount: 6_000, transactionId } as const;
  const told = async (): Promise<void> => {
    await hold.event(event);
    await time.passUntil((await time.now()) + SECOND);
  };
  return { hold, transactionId, told };
}

const say = async (hold: VirtualFlow<unknown>, what: object) =>
  await time.holdfast.settleManually(hold.reference, { ...OPERATOR, ...what } as never);

async function reauthorizable() {
  const card = await storedInSkippedTime(time);
  const cardOnFile = { entryMode: 'cof_cardholder_initiated_transaction' } as const;
  return await beginHeld(time, { ...card, cardOnFile });
}

describe('a payment status that nothing is known of', () => {
  test.each([
    ['capture', { amount: 6_000 }],
    ['void', {}],
  ] as const)(
    'does not clear what an event has told: no %s is sent, and a person is told the word',
    async (name, what) => {
      const { hold, transactionId, told } = await partly();
      await told();
      expect(await hold.status()).toMatchObject({
        needsOperator: true,
        operatorReason: expect.stringContaining(CALLS_IT),
      });
      const { answer } = await hold.command(name, { commandId: 'one', ...what });
      const refused = expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'nothing was sent'));
      await time.passUntil((await time.now()) + HOUR);
      await refused;
      expect(await movements(time, hold.reference)).toEqual([HELD, PART]);
      await say(hold, { status: 'succeeded', transactionId, amount: 6_000 });
      expect(await hold.outcome()).toMatchObject({ status: 'captured', transactionId, capturedAmount: 6_000 });
    },
  );

  test.each(['capture', 'void'] as const)(
    'sends no %s at the deadline, nor any void after the end',
    async (onDeadline) => {
      const { hold } = await partly({ captureDeadline: '1 day', onDeadline });
      await time.passUntil(hold.startedAt + 45 * DAY);
      expect(await hold.status()).toMatchObject({
        needsOperator: true,
        operatorReason: expect.stringContaining(CALLS_IT),
      });
      expect(await movements(time, hold.reference)).toEqual([HELD, PART]);
      await say(hold, { status: 'notExecuted' });
      expect(await hold.outcome()).toMatchObject({ status: 'voided', evidence: { knownBy: 'operator' } });
    },
  );

  test('sends no void in a run that was made by a reset', async () => {
    const { hold } = await partly({ captureDeadline: '1 day' });
    await resetToFirstTask(time.client, hold.workflowId);
    await time.passUntil(hold.startedAt + 2 * DAY);
    expect(await movements(time, hold.reference)).toEqual([HELD, PART]);
    await say(hold, { status: 'notExecuted' });
  });

  test.each([
    ['', undefined],
    [', and is taken when it is said again under the same id', 'word'],
  ])('ends nothing, and keeps nothing held, by what a person says while it can not be read%s', async (_what, id) => {
    const { hold, told } = await partly();
    await told();
    const away = await time.sandbox.addFault(answers(404, 'GET', `/payments/${(await hold.status()).paymentId}`));
    const word = { status: 'notExecuted', ...(id !== undefined && { commandId: id }) };
    await expect(say(hold, word)).rejects.toThrow('the service could not be read just now: say it again');
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: true });
    await time.sandbox.removeFault(away.id);
    await say(hold, word);
    expect(await hold.outcome()).toMatchObject({ status: 'voided', evidence: { knownBy: 'operator' } });
  });

  test('is forgotten once the service shows one that is known', async () => {
    const hold = await beginHeld(time);
    shows('Authorized', 'Processing');
    await time.holdfast.retryNow(hold.reference);
    await time.passUntil((await time.now()) + SECOND);
    expect(await hold.status()).toMatchObject({ needsOperator: true });
    showsAll();
    await time.holdfast.retryNow(hold.reference);
    await time.passUntil((await time.now()) + SECOND);
    expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: false });
    await time.passUntil(hold.startedAt + HOUR);
    expect(await hold.ask('capture')).toMatchObject({ status: 'succeeded' });
  });

  test('is held where a read that lags shows the one from before the authorization', async () => {
    const hold = await beginHeld(time);
    shows('Authorized', 'Initialized');
    await time.passUntil(hold.startedAt + HOUR);
    expect(await hold.ask('capture')).toMatchObject({ status: 'succeeded', amount: 6_000 });
  });

  test.each(['capture', 'void'] as const)(
    'and clears nothing that was told since: no %s is sent beside a capture by others',
    async (name) => {
      const { hold, told } = await partly();
      shows('Captured', 'Initialized');
      await told();
      const { answer } = await hold.command(name, { commandId: 'one', ...(name === 'capture' && { amount: 6_000 }) });
      const refused = expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'nothing was sent'));
      await time.passUntil((await time.now()) + HOUR);
      await refused;
      expect(await movements(time, hold.reference)).toEqual([HELD, PART]);
      showsAll();
      await time.holdfast.retryNow(hold.reference);
      expect(await hold.outcome()).toMatchObject({ status: 'captured', capturedAmount: 6_000 });
    },
  );

  test('keeps a void of a payment made elsewhere from being sent while no capture is listed', async () => {
    const paymentId = await heldElsewhere(time, 20_000);
    await profile({ list_lag_ms: 3 * HOUR });
    await time.provider.createCapture(paymentId, { amount: 6_000 }, { idempotencyKey: randomUUID() });
    shows('Captured', WORD);
    const actions = await beginActions(time, { paymentId, currency: 'USD' });
    const { answer } = await actions.command('void', { commandId: 'one' });
    const refused = expect(answer).rejects.toMatchObject(failsWith('StateConflict', 'may have been captured'));
    await time.passUntil((await time.now()) + 2 * HOUR);
    expect(await actions.status()).toMatchObject({ operatorReason: expect.stringContaining(`its status "${WORD}"`) });
    expect(time.requests.operations(paymentId, 'voids')).toEqual([]);
    await time.passUntil((await time.now()) + 4 * HOUR);
    await refused;
    await profile({ list_lag_ms: 0 });
  });

  test('asks for the captures of a hold that is to be authorized again: a word about its void is none about them', async () => {
    const hold = await reauthorizable();
    await time.sandbox.settings({ pendingMs: 7 * DAY });
    const { paymentId } = await hold.status();
    await time.sandbox.addFault({ action: 'result', status: 'Pending', path: `/payments/${paymentId}/voids` });
    await hold.command('reauthorize', { commandId: 'longer' });
    await time.passUntil(hold.startedAt + MINUTE);
    const { operation, transactionId } = await hold.status();
    expect(operation).toBe('void');
    shows('Pending', WORD);
    await time.stopWorker();
    const word = say(hold, { status: 'succeeded', transactionId });
    const other = say(hold, { status: 'succeeded', transactionId, why: 'another word' });
    const refused = expect(other).rejects.toThrow(`${transactionId} is a void of this hold`);
    await time.startWorker();
    expect(await word).toMatchObject({ status: 'succeeded' });
    await refused;
    await time.passUntil((await time.now()) + MINUTE);
    expect(await hold.status()).toMatchObject({ operatorReason: expect.stringContaining(CALLS_IT) });
    const later = say(hold, { status: 'notExecuted', transactionId, why: 'a third one' });
    await expect(later).rejects.toThrow('name the capture');
    await say(hold, { status: 'succeeded', transactionId: 'seen', amount: 5_500 });
    expect(await hold.outcome()).toMatchObject({ status: 'captured', transactionId: 'seen', capturedAmount: 5_500 });
    await time.sandbox.settings({ pendingMs: 10_000 });
  });

  test.each([
    [
      { status: 'succeeded', transactionId: 'seen', amount: 5_500 },
      { status: 'captured', capturedAmount: 5_500 },
    ],
    [{ status: 'notExecuted' }, { status: 'authorized' }],
  ] as const)('keeps a hold from being authorized again until a person says %o', async (decision, end) => {
    const hold = await reauthorizable();
    shows('Voided', WORD);
    await hold.command('reauthorize', { commandId: 'longer' });
    await time.passUntil(hold.startedAt + 9 * DAY);
    expect(await hold.status()).toMatchObject({ operatorReason: expect.stringContaining(CALLS_IT) });
    expect(await movements(time, hold.reference)).toEqual(['authorization Succeed 6000 USD', 'void Succeed 6000 USD']);
    await say(hold, decision);
    await time.passUntil((await time.now()) + MINUTE);
    expect(await hold.status()).toMatchObject(end.status === 'captured' ? { outcome: end } : end);
  });
});

test('a hold beside which something is under way is not ended by a person who was asked about the status before', async () => {
  const hold = await beginHeld(time);
  shows('Authorized', 'Processing');
  await time.holdfast.retryNow(hold.reference);
  await time.passUntil((await time.now()) + SECOND);
  expect(await hold.status()).toMatchObject({ needsOperator: true });
  shows('Authorized', 'Pending');
  for (const what of [{ status: 'notExecuted' }, { status: 'succeeded', transactionId: 'seen' }])
    await expect(say(hold, what)).rejects.toThrow('something is under way at the service: say it again');
  expect(await hold.status()).toMatchObject({ status: 'authorized', needsOperator: true });
});
