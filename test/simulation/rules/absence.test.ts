import { describe, expect, test } from 'vitest';
import { movements } from '../../support/payments.js';
import { plant, signalEvent } from '../../time/checks.js';
import { calm } from '../world/strategies.js';
import { answers, HOUR, lostReply, MINUTE, SECOND, sharedTime } from './scene.js';

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

  test('400, after a worker without the business unit has sent nothing in between', async () => {
    const charge = await startWith(lostReply(CHARGES), LISTS, { ...answers(503, 'POST', CHARGES), times: 2 });
    await time.passUntil(charge.startedAt + 1_500);
    await time.stopWorker();
    const env = { HOLDFAST_BUSINESS_UNITS: JSON.stringify({ default: { appId: 'another', privateKey: 'key-of-another' } }) };
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

  test('400 in answer to the first try of all is: the flow is refused at once, and no money moved', async () => {
    const charge = await startWith({ ...answers(400, 'POST', CHARGES), times: 1 });
    await expect(charge.outcome()).rejects.toMatchObject({ cause: { type: 'InvalidInput' } });
    expect(time.requests.chargePosts(charge.input.reference)).toHaveLength(1);
    expect(await movements(time, charge.input.reference)).toEqual([]);
  });
});

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
    const charge = await startWith(lostReply(CHARGES), answers(503, 'POST', CHARGES), answers(503, 'GET', `${CHARGES}/*`));
    await time.passUntil(charge.startedAt + MINUTE);
    const { paymentId = '' } = await charge.status();
    const [booked] = await time.sandbox.ledger(charge.input.reference);
    await signalEvent(time, charge, { paymentId, transactionId: booked?.transaction_id ?? '' });
    await time.passUntil(charge.startedAt + WINDOW + 12 * HOUR);
    const status = await charge.status();
    expect(status).toMatchObject({ status: 'unknown', needsOperator: true });
    expect(status.operatorReason).toContain(booked?.transaction_id);
    await setListLag(0);
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await movements(time, charge.input.reference)).toEqual(MOVED);
  });

  test('never on lists that were not answered, however long that takes', async () => {
    const charge = await startWith(lostReply(CHARGES), answers(503, 'POST', CHARGES), answers(500, 'GET', `${CHARGES}*`));
    await time.passUntil(charge.startedAt + WINDOW + 3 * HOUR);
    expect((await charge.status()).outcome).toBeUndefined();
    for (const { id, path } of await time.sandbox.faults()) if (path?.startsWith(CHARGES)) await time.sandbox.removeFault(id);
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'poll' } });
    expect(await movements(time, charge.input.reference)).toEqual(MOVED);
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
