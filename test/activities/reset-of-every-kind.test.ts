import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ActivityOperation, callsFor } from './calls.js';
import { Prepared } from './prepared.js';
import { Harness, ORIGINAL_RUN_ID, Service } from './support.js';

let service: Service;
let prepared: Prepared;
let harness: Harness;
beforeAll(async () => {
  service = await Service.start();
  prepared = new Prepared(service.sandbox, '1.3.0');
});
afterAll(async () => {
  await prepared.close();
  await service.close();
});
beforeEach(() => {
  // Of a card it is asked as well what the earlier run has told: here nothing.
  const engine = {
    sentBefore: async () => ({ firstSent: {}, commands: {}, cancelled: false, isKept: false }),
    madeByReset: () => Promise.resolve(true),
    toldEnd: () => Promise.resolve(undefined),
    latestResult: () => Promise.resolve({ result: undefined, ofLatestRun: false }),
  };
  harness = new Harness({ baseUrl: service.sandbox.url, engine });
});
afterEach(async () => {
  await harness.close();
  await service.sandbox.control.clearFaults();
});

/** Every POST but Create Payment, which adopts from the engine, and Create Charge: both are in `reset-run.test.ts`. */
const POSTS = [
  'createAuthorization',
  'createCapture',
  'createVoid',
  'createRefund',
  'createCredit',
  'createRiskAnalysis',
  'createCustomer',
  'storePaymentMethod',
] as const satisfies readonly ActivityOperation[];
const TRANSACTIONS = POSTS.slice(0, 6);
/** The sandbox takes one authorization of a payment, and one credit to a token that nobody agreed to store. */
const REFUSED_TWICE: ReadonlySet<string> = new Set(['createAuthorization', 'createCredit']);

let count = 0;
async function callOf(name: (typeof POSTS)[number]) {
  return { ...callsFor(await prepared.for(name), `reset-${(count += 1)}`)[name], originalRunId: ORIGINAL_RUN_ID };
}
const BEFORE = { runId: ORIGINAL_RUN_ID };

describe('in a run made by a reset', () => {
  test.each(POSTS)('%s adopts what the earlier run did, even after the key is forgotten', async (name) => {
    const call = await callOf(name);
    const earlier = await harness.run(name, call, BEFORE);
    await service.sandbox.control.advanceClock(25 * 3_600_000);
    harness.requests.length = 0;
    const { requestId: _other, ...same } = earlier;
    expect(await harness.run(name, call)).toMatchObject(same);
    expect(harness.requests).toEqual([expect.stringMatching(/^GET /)]);
  });

  test.each(POSTS)('%s is sent only after a read has found nothing', async (name) => {
    await harness.run(name, await callOf(name));
    // A card is looked for among those of its customer as well.
    const reads = name === 'storePaymentMethod' ? ['GET', 'GET'] : ['GET'];
    expect(harness.requests.map((request) => request.split(' ')[0])).toEqual([...reads, 'POST']);
  });

  test.each(POSTS)('%s is not sent while the read fails', async (name) => {
    const call = await callOf(name);
    await service.sandbox.control.addFault({ action: 'status', status: 503, method: 'GET', path: '*' });
    const failed = await harness.fail(name, call);
    expect(failed).toMatchObject({ type: 'ProviderUnavailable', retryable: true, details: { mayHaveLeft: true } });
    expect(harness.posts()).toEqual([]);
  });

  test.each(TRANSACTIONS)('%s never adopts what is known to be of another intent', async (name) => {
    const call = await callOf(name);
    const key = `${call.key}-other`;
    const other = await harness.run(name, { ...call, key, additionalDetails: { holdfast_key: key } }, BEFORE);
    harness.requests.length = 0;
    const known = 'transactionId' in other ? [other.transactionId] : [];
    expect(known).toHaveLength(1);
    const again = { ...call, knownTransactionIds: known };
    if (REFUSED_TWICE.has(name)) {
      // The service takes no second one, and what an earlier run did may be why: not known, and not to be sent again.
      const details = { mayHaveLeft: true };
      expect(await harness.fail(name, again)).toMatchObject({ type: 'OutcomeUnknown', retryable: false, details });
    } else {
      const own = await harness.run(name, again);
      expect(own).toMatchObject({ status: 'Succeed', holdfastKey: call.key });
      expect('transactionId' in own && own.transactionId).not.toBe(known[0]);
    }
    expect(harness.posts()).toHaveLength(1);
  });

  test.each(TRANSACTIONS)('%s adopts its own where it was noted as known only after the reset', async (name) => {
    const call = await callOf(name);
    const earlier = await harness.run(name, call, BEFORE);
    const noted = 'transactionId' in earlier ? [earlier.transactionId] : [];
    expect(noted).toHaveLength(1);
    harness.requests.length = 0;
    expect(await harness.run(name, { ...call, knownTransactionIds: noted })).toMatchObject({
      transactionId: noted[0],
    });
    expect(harness.posts()).toEqual([]);
  });

  describe('where the service echoes nothing', () => {
    let silent: Harness;
    let own: Prepared;
    let firstSent: Record<string, number> = {};
    beforeAll(async () => {
      const unit = await service.sandbox.control.putBusinessUnit({
        app_id: 'silent',
        profile: { echo_additional_details: false, echo_reconciliation_id: false },
      });
      const { app_id: appId, private_key: privateKey, public_key: publicKey } = unit;
      const engine = { sentBefore: async () => ({ firstSent, commands: {}, cancelled: false, isKept: true }) };
      silent = new Harness({ baseUrl: service.sandbox.url, unit: { appId, privateKey }, engine });
      own = new Prepared(service.sandbox, '1.3.0', { appId, privateKey, publicKey });
    });
    afterAll(async () => {
      await own.close();
      await silent.close();
    });
    const captureCall = async () => ({
      ...callsFor(await own.for('createCapture')).createCapture,
      originalRunId: ORIGINAL_RUN_ID,
    });
    const unclear = { type: 'OutcomeUnknown', retryable: false, details: { mayHaveLeft: true } };

    test('a capture that could be one of several is left to reads and a person', async () => {
      const call = await captureCall();
      for (const [key, amount] of [
        ['a', 1_000],
        ['b', 2_000],
      ] as const) {
        await silent.run('createCapture', { ...call, key, capture: { amount } }, BEFORE);
      }
      const posts = silent.posts().length;
      const failed = await silent.fail('createCapture', call);
      expect(failed).toMatchObject(unclear);
      expect(failed.message).toContain('these captures are ambiguous');
      expect(silent.posts()).toHaveLength(posts);
    });

    test('a capture that was listed before the POST left is not taken for it, nor is another sent', async () => {
      const call = await captureCall();
      const other = await silent.run('createCapture', { ...call, key: 'a', capture: { amount: 1_000 } }, BEFORE);
      const posts = silent.posts().length;
      const noted = [other.transactionId];
      const failed = await silent.fail('createCapture', { ...call, notedTransactionIds: noted });
      expect(failed).toMatchObject({ ...unclear, details: { mayHaveLeft: true, ambiguousIds: noted } });
      expect(silent.posts()).toHaveLength(posts);
      // One that was not there before is ours where the run before has sent it.
      firstSent = { [call.key.slice(call.key.indexOf(':') + 1)]: 1 };
      const adopted = await silent.run('createCapture', { ...call, notedTransactionIds: [] });
      expect(adopted.transactionId).toBe(other.transactionId);
      expect(silent.posts()).toHaveLength(posts);
      // If it has sent none, a failure may be of others: the same key tells what became of ours.
      firstSent = {};
      expect(other.status).toBe('Failed');
      const sent = await silent.run('createCapture', { ...call, notedTransactionIds: [] });
      expect(sent.transactionId).not.toBe(other.transactionId);
      expect(silent.posts()).toHaveLength(posts + 1);
    });
  });

  test.each(TRANSACTIONS)('%s that was listed before the POST left is adopted where it names our key', async (name) => {
    const call = await callOf(name);
    const earlier = await harness.run(name, call, BEFORE);
    const noted = 'transactionId' in earlier ? [earlier.transactionId] : [];
    expect(noted).toHaveLength(1);
    harness.requests.length = 0;
    expect(await harness.run(name, { ...call, notedTransactionIds: noted })).toMatchObject({ transactionId: noted[0] });
    expect(harness.posts()).toEqual([]);
  });
});
