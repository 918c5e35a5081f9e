import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { ApplicationFailure } from '@temporalio/common';
import { idempotencyKey } from '../../../src/contract/idempotency.js';
import { paymentWorkflowId } from '../../../src/contract/names.js';
import { loseTask } from '../../support/lost-task.js';
import { movements } from '../../support/payments.js';
import { plant, signalEvent } from '../../time/checks.js';
import { calm } from '../world/strategies.js';
import { answers, HOUR, lostReply, MINUTE, OPERATOR, SECOND, sharedTime } from './context.js';

const time = sharedTime();

const CHARGES = '*/charges';
const LISTS = answers(503, 'GET', CHARGES);
/** The short window of a CVV, so that what is sent until it closes is not sent a thousand times. */
const WINDOW = 2.5 * HOUR;
const MOVED = ['charge Succeed 1095 USD'];

async function startWith(...faults: Parameters<typeof plant>[2][]) {
  const input = await time.input({ cvv: '737' });
  for (const fault of faults) await plant(time, input, fault);
  return await time.start(input);
}

/** Lists leave out what is younger than this. */
async function setListLag(ms: number): Promise<void> {
  const [unit] = await time.sandbox.businessUnits();
  await time.sandbox.putBusinessUnit({ app_id: unit?.app_id ?? '', profile: { list_lag_ms: ms } });
}

/** Epoch ms of the reads that prove absence, as the evidence names them. */
const readsIn = (proof = ''): number[] => (proof.match(/\d{4}-\S+?Z/g) ?? []).map((at) => Date.parse(at));

describe('a refusal is not believed once a try may have left', () => {
  test.each([400, 404, 409])('%i, twice, after a lost reply: the charge that was made is found', async (status) => {
    await setListLag(20 * MINUTE);
    const charge = await startWith(lostReply(CHARGES), { ...answers(status, 'POST', CHARGES), times: 2 });
    const outcome = await charge.outcome();
    await setListLag(0);
    expect(outcome).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, charge.input.reference)).toEqual(MOVED);
  });

  test('409, again and again after a try that never arrived: it is read, and not sent for the whole window', async () => {
    const charge = await startWith({ ...answers(503, 'POST', CHARGES), times: 1 }, answers(409, 'POST', CHARGES));
    const outcome = await charge.outcome();
    expect(outcome).toMatchObject({ status: 'notExecuted' });
    expect(Date.parse(outcome.evidence.settledAt)).toBeLessThan(charge.startedAt + 85 * MINUTE);
    const posts = time.requests.chargePosts(charge.input.reference).length;
    expect(posts).toBeGreaterThanOrEqual(5);
    expect(posts).toBeLessThanOrEqual(7);
    expect(await movements(time, charge.input.reference)).toEqual([]);
  });

  test('400, after a worker without the key of the business unit has sent nothing in between', async () => {
    const charge = await startWith(lostReply(CHARGES), LISTS, { ...answers(503, 'POST', CHARGES), times: 2 });
    await time.passUntil(charge.startedAt + 1_500);
    await time.stopWorker();
    const env = {
      HOLDFAST_BUSINESS_UNITS: JSON.stringify({ default: { appId: 'holdfast-sandbox', privateKey: 'key-of-another' } }),
    };
    const stranger = time.simulation.startWorker({ env });
    await time.passUntil(charge.startedAt + 2 * MINUTE);
    expect(await charge.status()).toMatchObject({ waitingFor: 'credentials', needsOperator: true });
    await stranger.stop();
    await time.startWorker();
    await plant(time, charge.input, { ...answers(400, 'POST', CHARGES), times: 1 });
    await time.passUntil(charge.startedAt + HOUR);
    const faults = await time.sandbox.faults();
    for (const { id, method } of faults) if (method === 'GET') await time.sandbox.removeFault(id);
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, charge.input.reference)).toEqual(MOVED);
  });

  test('400, after a person has woken the flow while a try was on its way that then charged', async () => {
    const input = await time.input();
    await plant(time, input, { action: 'delay', method: 'POST', path: CHARGES, delay_ms: 8 * SECOND, times: 1 });
    const charge = await time.start(input, 'raw');
    await time.passUntil(charge.startedAt + 2 * SECOND);
    expect(time.requests.chargePosts(input.reference)).toHaveLength(1);
    await plant(time, input, { ...answers(400, 'POST', CHARGES), times: 1 });
    await time.holdfast.retryNow(input.reference);
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, input.reference)).toEqual(MOVED);
  });

  test('400, after a worker has said of a later try alone that nothing left', async () => {
    const { network } = time.simulation.world;
    let posts = 0;
    network.strategy = (request) => {
      if (request.method !== 'POST' || !request.path.endsWith('/charges')) return calm(request);
      posts += 1;
      if (posts === 1) return { ...calm(request), fate: 'dropReply' };
      return posts === 2 ? { ...calm(request), requestDelayMs: 20 * SECOND } : calm(request);
    };
    const charge = await startWith();
    await time.passUntil(charge.startedAt + 2 * SECOND);
    await plant(time, charge.input, { ...answers(400, 'POST', CHARGES), times: 1 });
    const { workflowId } = charge;
    const { events } = await time.client.workflow.getHandle(workflowId).fetchHistory();
    const sent = (events ?? []).flatMap((event) => event.activityTaskScheduledEventAttributes ?? []).at(-1);
    const details = [{ mayHaveLeft: false }];
    const limited = ApplicationFailure.create({ type: 'RateLimited', message: 'slower', nonRetryable: true, details });
    await time.client.activity.fail({ workflowId, activityId: sent?.activityId ?? '' }, limited);
    await time.passUntil(charge.startedAt + 10 * SECOND);
    network.strategy = calm;
    expect(posts).toBe(3);
    expect(sent?.activityType?.name).toBe('createCharge');
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, charge.input.reference)).toEqual(MOVED);
  });

  test('400, where a task that was lost had charged', async () => {
    const { input, charge } = await startedInLostTask({ charged: true });
    // Not quick enough for the charge to be tried inside the task.
    await plant(time, input, { action: 'delay', method: 'POST', path: '/payments', delay_ms: 4 * SECOND, times: 1 });
    await plant(time, input, { ...answers(400, 'POST', CHARGES), times: 1 });
    await time.startWorker();
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, input.reference)).toEqual(MOVED);
  });

  test('400 in answer to the first try of all is: the flow is refused at once, and no money moved', async () => {
    const charge = await startWith({ ...answers(400, 'POST', CHARGES), times: 1 });
    await expect(charge.outcome()).rejects.toMatchObject({ cause: { type: 'InvalidInput' } });
    expect(time.requests.chargePosts(charge.input.reference)).toHaveLength(1);
    expect(await movements(time, charge.input.reference)).toEqual([]);
  });
});

/** A charge whose first task was lost; by what that had sent its payment exists, and is charged where that is said. */
async function startedInLostTask({ charged }: { charged: boolean }) {
  const input = await time.input();
  const workflowId = paymentWorkflowId(input.reference);
  await time.stopWorker();
  const charge = await time.start(input);
  await loseTask(time.client);
  const { amount, currency, paymentMethod, reference: reconciliationId } = input;
  const additionalDetails = { holdfast_workflow_id: workflowId };
  const { data } = await time.provider.createPayment(
    { amount, currency, additionalDetails },
    { idempotencyKey: idempotencyKey(workflowId, 'createPayment', 1) },
  );
  if (charged) {
    const key = idempotencyKey(workflowId, 'createCharge', 1);
    const request = { paymentMethod, reconciliationId, additionalDetails: { holdfast_key: key } };
    await time.provider.createCharge(data.id, request, { idempotencyKey: key });
  }
  return { input, charge };
}

describe('that no money moved is said', () => {
  test('only after three reads over an hour, the first 15 min after a call in flight could have ended', async () => {
    const charge = await startWith(answers(503, 'POST', CHARGES));
    const outcome = await charge.outcome();
    expect(outcome).toMatchObject({ status: 'notExecuted', amount: 1095, currency: 'USD' });
    const reads = readsIn(outcome.evidence.proof);
    expect(reads).toHaveLength(3);
    const [first = 0, , last = 0] = reads;
    const lastTry = time.requests.chargePosts(charge.input.reference).at(-1)?.at ?? Infinity;
    expect(first - lastTry).toBeGreaterThanOrEqual(65 * SECOND + 15 * MINUTE);
    expect(last - first).toBeGreaterThanOrEqual(HOUR);
    expect(await movements(time, charge.input.reference)).toEqual([]);
  });

  test('not of a charge whose last try arrives a minute after its window has closed', async () => {
    const charge = await startWith({ ...answers(503, 'POST', CHARGES) });
    await time.passUntil(charge.startedAt + WINDOW - 2 * MINUTE);
    for (const { id, path } of await time.sandbox.faults()) if (path === CHARGES) await time.sandbox.removeFault(id);
    const { network } = time.simulation.world;
    network.strategy = (request) =>
      request.method === 'POST' && request.path.endsWith('/charges')
        ? { fate: 'dropReply', requestDelayMs: 3 * MINUTE, replyDelayMs: 1 }
        : calm(request);
    const outcome = await charge.outcome();
    network.strategy = calm;
    expect(outcome).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
    expect(await movements(time, charge.input.reference)).toEqual(MOVED);
  });

  test('never while an event names a transaction that no read shows: a person is asked', async () => {
    await setListLag(24 * HOUR);
    const charge = await startWith(
      lostReply(CHARGES),
      answers(503, 'POST', CHARGES),
      answers(503, 'GET', `${CHARGES}/*`),
    );
    await time.passUntil(charge.startedAt + MINUTE);
    const { paymentId = '' } = await charge.status();
    const [ledgerRows] = await time.sandbox.ledger(charge.input.reference);
    await signalEvent(time, charge, { paymentId, transactionId: ledgerRows?.transaction_id ?? '' });
    await time.passUntil(charge.startedAt + WINDOW + 12 * HOUR);
    const status = await charge.status();
    expect(status).toMatchObject({ status: 'unknown', needsOperator: true });
    expect(status.operatorReason).toContain(ledgerRows?.transaction_id);
    const decided = time.holdfast.settleManually(charge.input.reference, { ...OPERATOR, status: 'notExecuted' });
    await expect(decided).rejects.toThrow('it may have moved the money');
    await setListLag(0);
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, charge.input.reference)).toEqual(MOVED);
  });

  test('never on lists that were not answered, however long that takes', async () => {
    const charge = await startWith(
      lostReply(CHARGES),
      answers(503, 'POST', CHARGES),
      answers(500, 'GET', `${CHARGES}*`),
    );
    await time.passUntil(charge.startedAt + WINDOW + 3 * HOUR);
    expect((await charge.status()).outcome).toBeUndefined();
    for (const { id, path } of await time.sandbox.faults())
      if (path?.startsWith(CHARGES)) await time.sandbox.removeFault(id);
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
    expect(await movements(time, charge.input.reference)).toEqual(MOVED);
  });

  test('although an event that nothing vouches for names a transaction', async () => {
    const charge = await startWith(answers(503, 'POST', CHARGES));
    await time.passUntil(charge.startedAt + WINDOW + MINUTE);
    const { paymentId = '' } = await charge.status();
    await signalEvent(time, charge, { paymentId, transactionId: randomUUID(), trusted: false });
    await time.passUntil(charge.startedAt + WINDOW + 3 * HOUR);
    expect(await charge.status()).toMatchObject({ status: 'notExecuted' });
    expect(await movements(time, charge.input.reference)).toEqual([]);
  });

  test('not of a payment that was never answered where a task that was lost may have charged: a person is asked', async () => {
    const { input, charge } = await startedInLostTask({ charged: true });
    await plant(time, input, answers(401, 'POST', '/payments'));
    await time.startWorker();
    await time.passUntil(charge.startedAt + 21 * HOUR);
    expect(await charge.status()).toMatchObject({ status: 'unknown', waitingFor: 'operator', needsOperator: true });
    expect(await movements(time, input.reference)).toEqual(MOVED);
    await time.holdfast.settleManually(input.reference, { ...OPERATOR, status: 'succeeded' });
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'operator' } });
  });

  test('of a payment that was never answered, and on which nothing can have been charged, once its window is over', async () => {
    const input = await time.input();
    // Slow tries, by a key that the service rejects.
    await plant(time, input, answers(401, 'POST', '/payments'));
    const charge = await time.start(input);
    await time.passUntil(charge.startedAt + 19 * HOUR);
    expect(await charge.status()).toMatchObject({ waitingFor: 'credentials' });
    expect(await charge.outcome()).toMatchObject({
      status: 'notExecuted',
      evidence: { proof: 'no money operation was ever sent' },
    });
    expect(await movements(time, input.reference)).toEqual([]);
  });
});

test('a worker that lacks the key does not end a flow whose lost task may have charged: it waits for one that has it', async () => {
  const { input, charge } = await startedInLostTask({ charged: true });
  const stranger = time.simulation.startWorker({ keys: `other:${Buffer.alloc(32, 7).toString('base64')}` });
  await time.passUntil(charge.startedAt + 10 * MINUTE);
  await stranger.stop();
  const { status } = await time.client.workflow.getHandle(charge.workflowId).describe();
  expect(status.name).toBe('RUNNING');
  await time.startWorker();
  expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
  expect(await movements(time, input.reference)).toEqual(MOVED);
});
