import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  Api,
  authorized,
  GOOD_CARD,
  PENDING_THEN_SUCCEED,
  startTestSandbox,
  until,
  type TestSandbox,
} from './support/sandbox.js';

const HOUR_MS = 3_600_000;

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

async function paymentAndToken(): Promise<{ paymentId: string; token: string }> {
  const { token } = await sandbox.control.tokenize(GOOD_CARD);
  return { paymentId: (await sandbox.api.createPayment()).body.id, token };
}

const UNREACHED = { action: 'result', status: 'Failed', category: 'provider_network_error', times: 1 } as const;

async function statuses(paymentId: string): Promise<string[]> {
  return (await sandbox.control.ledgerOf({ paymentId })).map(({ kind, status }) => `${kind} ${status}`);
}

/** Of the statement. */
async function lineOf(reconciliationId: string): Promise<string> {
  // A statement has what was made before its end.
  await sandbox.control.advanceClock(1);
  const lines = (await sandbox.control.statement()).split('\n');
  return lines.find((line) => line.includes(`"${reconciliationId}"`)) ?? '';
}

describe('idempotency keys', () => {
  test('a charge repeated under its key is answered with the stored first answer, whatever the body', async () => {
    const { paymentId, token } = await paymentAndToken();
    const first = await sandbox.api.charge(paymentId, token, { reconciliation_id: 'idem-1' }, 'key-1');
    const again = await sandbox.api.charge(paymentId, token, { reconciliation_id: 'something-else' }, 'key-1');
    expect(again.status).toBe(201);
    expect(again.text).toBe(first.text);
    expect(await sandbox.control.ledger('idem-1')).toHaveLength(1);
  });

  test('a pending charge that has settled since is still replayed as the first answer had it', async () => {
    const { token } = await sandbox.control.tokenize('4000000000000077');
    const payment = await sandbox.api.createPayment();
    const first = await sandbox.api.charge(payment.body.id, token, {}, 'key-pending');
    await sandbox.control.complete(first.body.id, { status: 'Succeed' });
    expect((await sandbox.api.charge(payment.body.id, token, {}, 'key-pending')).text).toBe(first.text);
    const read = await sandbox.api.get(`/payments/${payment.body.id}/charges/${first.body.id}`);
    expect(read.body.result.status).toBe('Succeed');
  });

  test('under a key a read still shows how things stand now, and a payment is still replaced', async () => {
    const keyed = { 'idempotency-key': 'key-read' };
    const { paymentId, token } = await paymentAndToken();
    expect((await sandbox.api.get(`/payments/${paymentId}`, keyed)).body.status).toBe('Initialized');
    for (const amount of [600, 700]) {
      const put = await sandbox.api.call('PUT', `/payments/${paymentId}`, { amount, currency: 'USD' }, keyed);
      expect(put.body.amount).toBe(amount);
    }
    await sandbox.api.charge(paymentId, token, {}, 'key-read');
    expect((await sandbox.api.get(`/payments/${paymentId}`, keyed)).body.status).toBe('Captured');
  });

  test('twenty concurrent charges with one key make one movement', async () => {
    const { paymentId, token } = await paymentAndToken();
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        sandbox.api.charge(paymentId, token, { reconciliation_id: 'idem-20' }, 'key-20'),
      ),
    );
    expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
    expect(await sandbox.control.ledger('idem-20')).toHaveLength(1);
  });

  test('a request that was refused leaves its key unused', async () => {
    const { paymentId, token } = await paymentAndToken();
    expect((await sandbox.api.charge(paymentId, 'unknown', {}, 'key-refused')).status).toBe(400);
    expect((await sandbox.api.charge(paymentId, token, {}, 'key-refused')).status).toBe(201);
  });

  test('one key on two payments makes two charges: keys belong to a path', async () => {
    const [one, two] = [await paymentAndToken(), await paymentAndToken()];
    const charges = [
      await sandbox.api.charge(one.paymentId, one.token, {}, 'key-path'),
      await sandbox.api.charge(two.paymentId, two.token, {}, 'key-path'),
    ];
    expect(charges.map((charge) => charge.status)).toEqual([201, 201]);
    expect(charges[0]?.body.id).not.toBe(charges[1]?.body.id);
  });

  test('a provider that was not reached is asked again under the same key: same charge, new result', async () => {
    const { paymentId, token } = await paymentAndToken();
    await sandbox.control.addFault({ ...UNREACHED, reconciliation_id: 'idem-net' });
    const extra = { reconciliation_id: 'idem-net' };
    const first = await sandbox.api.charge(paymentId, token, extra, 'key-net');
    expect(first.body.result).toMatchObject({ status: 'Failed', category: 'provider_network_error' });
    const second = await sandbox.api.charge(paymentId, token, extra, 'key-net');
    expect(second.body.id).toBe(first.body.id);
    expect(second.body.result).toEqual({ status: 'Succeed' });
    expect((await sandbox.api.charge(paymentId, token, extra, 'key-net')).text).toBe(second.text);
    expect(await sandbox.control.ledger('idem-net')).toMatchObject([{ status: 'Succeed', idempotency_key: 'key-net' }]);
  });

  test('a pending card whose provider is asked again is not settled while it pends', async () => {
    const { token } = await sandbox.control.tokenize(PENDING_THEN_SUCCEED);
    const { id } = (await sandbox.api.createPayment()).body;
    await sandbox.control.addFault({ ...UNREACHED, path: `/payments/${id}/charges` });
    const charge = () => sandbox.api.charge(id, token, { reconciliation_id: 'idem-pends' }, 'key-pends');
    const settled = async () => /"settled":/.test(await lineOf('idem-pends'));
    await charge();
    await sandbox.control.advanceClock(60_000);
    expect([await statuses(id), await settled()]).toEqual([['charge Failed'], true]);
    await charge();
    expect([await statuses(id), await settled()]).toEqual([['charge Pending'], false]);
    await sandbox.control.advanceClock(60_000);
    expect([await statuses(id), await settled()]).toEqual([['charge Succeed'], true]);
  });

  test('a capture that is asked again and fails does not take back what another has captured since', async () => {
    const { paymentId, path } = await authorized(sandbox);
    await sandbox.control.addFault({ ...UNREACHED, path: `${path}/captures` });
    const capture = (amount: number, key: string) =>
      sandbox.api.post(`${path}/captures`, { amount }, { 'idempotency-key': key });
    await capture(1_500, 'first');
    await capture(4_000, 'second');
    expect((await capture(1_500, 'first')).body.result.category).toBe('provider_error');
    expect(await statuses(paymentId)).toEqual(['authorization Succeed', 'capture Failed', 'capture Succeed']);
    expect((await sandbox.api.get(path)).body.status).toBe('Captured');
  });

  test('what moved although the provider was not reached can be told by hand, once, and its key then says so', async () => {
    const { paymentId, token } = await paymentAndToken();
    await sandbox.control.addFault({ ...UNREACHED, path: `/payments/${paymentId}/charges` });
    const charge = () => sandbox.api.charge(paymentId, token, {}, 'key-told');
    const { id } = (await charge()).body;
    await sandbox.control.complete(id, { status: 'Succeed' });
    expect((await charge()).body).toMatchObject({ id, result: { status: 'Succeed' } });
    expect((await sandbox.api.get(`/payments/${paymentId}`)).body.status).toBe('Captured');
    await expect(sandbox.control.complete(id, { status: 'Failed' })).rejects.toThrow('Succeed already');
  });

  test('after 24 h a key is forgotten: the same request makes a second charge', async () => {
    const { paymentId, token } = await paymentAndToken();
    await sandbox.control.addFault({
      action: 'result',
      status: 'Failed',
      category: 'payment_method_declined',
      times: 1,
    });
    const extra = { reconciliation_id: 'idem-old' };
    const first = await sandbox.api.charge(paymentId, token, extra, 'key-old');
    await sandbox.control.advanceClock(24 * HOUR_MS - 60_000);
    expect((await sandbox.api.charge(paymentId, token, extra, 'key-old')).text).toBe(first.text);
    await sandbox.control.advanceClock(120_000);
    const fresh = await sandbox.control.tokenize(GOOD_CARD);
    const second = await sandbox.api.charge(paymentId, fresh.token, extra, 'key-old');
    expect(second.status).toBe(201);
    expect(second.body.id).not.toBe(first.body.id);
    expect(await sandbox.control.ledger('idem-old')).toMatchObject([{ status: 'Failed' }, { status: 'Succeed' }]);
  });

  test('after 24 h a repeated creation and charge take the money twice, which is what a client must guard against', async () => {
    const request = async () => {
      const { token } = await sandbox.control.tokenize(GOOD_CARD);
      const payment = await sandbox.api.createPayment({}, 'key-twice:payment');
      await sandbox.api.charge(payment.body.id, token, { reconciliation_id: 'idem-twice' }, 'key-twice:charge');
    };
    await request();
    await request();
    expect(await sandbox.control.ledger('idem-twice')).toHaveLength(1);
    await sandbox.control.advanceClock(25 * HOUR_MS);
    await request();
    expect(await sandbox.control.ledger('idem-twice')).toMatchObject([{ status: 'Succeed' }, { status: 'Succeed' }]);
  });
});

describe('profiles of a business unit', () => {
  async function unitWith(
    profile: object,
  ): Promise<{ api: Api; charge: (extra?: object, key?: string) => ReturnType<Api['charge']>; paymentId: string }> {
    const appId = `unit-${Math.random().toString(36).slice(2)}`;
    const unit = await sandbox.control.putBusinessUnit({ app_id: appId, profile });
    const api = new Api(sandbox.url, { 'app-id': appId, 'private-key': unit.private_key });
    const { token } = await sandbox.control.tokenize({ cardNumber: GOOD_CARD, publicKey: unit.public_key });
    const paymentId = (await api.createPayment()).body.id;
    return { api, paymentId, charge: (extra = {}, key = 'k') => api.charge(paymentId, token, extra, key) };
  }

  test('checks before the key look-up refuse a repeated charge whose first one took the payment and the token', async () => {
    const { charge } = await unitWith({ state_checks: 'before_key_lookup' });
    expect((await charge()).status).toBe(201);
    expect((await charge()).status).toBe(409);
  });

  test('with keys scoped to the unit, a key used elsewhere is answered with what it made there', async () => {
    const { api, charge } = await unitWith({ key_scope: 'unit' });
    const first = await charge({}, 'shared');
    const other = await api.createPayment({}, 'shared');
    expect(other.text).toBe(first.text);
  });

  test('a second request with a key in flight is refused, or waits for the first one', async () => {
    for (const [profile, statuses] of [
      ['conflict', [409, 201]],
      ['wait', [201, 201]],
    ] as const) {
      const { charge, paymentId } = await unitWith({ same_key_in_flight: profile });
      const fault = { method: 'POST', path: `/payments/${paymentId}/charges`, action: 'delay', times: 1 } as const;
      const { id } = await sandbox.control.addFault({ ...fault, delay_ms: 400 });
      const slow = charge();
      await until(async () => (await sandbox.control.faults()).find((one) => one.id === id && one.times === 0));
      const second = await charge();
      expect([second.status, (await slow).status]).toEqual(statuses);
      if (profile === 'wait') expect(second.text).toBe((await slow).text);
    }
  });

  test('lists lag, and what is not echoed is missing, while the ledger keeps it', async () => {
    const { api, charge, paymentId } = await unitWith({
      list_lag_ms: 30_000,
      echo_reconciliation_id: false,
      echo_additional_details: false,
    });
    const made = await charge({ reconciliation_id: 'quiet-1', additional_details: { a: 'b' } });
    expect(made.body).not.toHaveProperty('reconciliation_id');
    expect(made.body).not.toHaveProperty('additional_details');
    expect((await api.get(`/payments/${paymentId}/charges`)).text).toBe('[]');
    expect((await api.get(`/payments/${paymentId}/charges/${made.body.id}`)).status).toBe(200);
    await sandbox.control.advanceClock(30_000);
    expect((await api.get(`/payments/${paymentId}/charges`)).text).toContain(made.body.id);
    expect(await sandbox.control.ledger('quiet-1')).toHaveLength(1);
  });

  test('another key after a network error charges twice, if the first charge has moved the money after all', async () => {
    const { charge, paymentId } = await unitWith({ second_charge: 'allowed' });
    await sandbox.control.addFault({ ...UNREACHED, path: `/payments/${paymentId}/charges` });
    const { id } = (await charge({}, 'K1')).body;
    await sandbox.control.complete(id, { status: 'Succeed' });
    expect((await charge({}, 'K2')).body.result.status).toBe('Succeed');
    expect(await statuses(paymentId)).toEqual(['charge Succeed', 'charge Succeed']);
  });

  test('a first charge that is told to have failed after another key has charged leaves that captured', async () => {
    const { api, charge, paymentId } = await unitWith({ second_charge: 'allowed' });
    await sandbox.control.addFault({ ...UNREACHED, path: `/payments/${paymentId}/charges` });
    const { id } = (await charge({}, 'K1')).body;
    await charge({}, 'K2');
    await sandbox.control.complete(id, { status: 'Failed' });
    expect(await statuses(paymentId)).toEqual(['charge Failed', 'charge Succeed']);
    expect((await api.get(`/payments/${paymentId}`)).body.status).toBe('Captured');
  });

  test('a stored network error is replayed where the unit is set so', async () => {
    const { charge } = await unitWith({ replay_network_errors: true });
    await sandbox.control.addFault({ ...UNREACHED, reconciliation_id: 'idem-replay' });
    const first = await charge({ reconciliation_id: 'idem-replay' });
    expect((await charge({ reconciliation_id: 'idem-replay' })).text).toBe(first.text);
  });

  const FAILED = { action: 'result', status: 'Failed', category: 'provider_error', times: 1 } as const;

  test.each([
    ['replayed', 'Failed'],
    ['asked_again', 'Succeed'],
  ] as const)(
    'a key that was answered that the provider has failed is %s where the unit is set so',
    async (how, then) => {
      const { charge, paymentId } = await unitWith({ provider_errors: how });
      await sandbox.control.addFault({ ...FAILED, path: `/payments/${paymentId}/charges` });
      const first = (await charge()).body;
      expect(first.result).toMatchObject({ status: 'Failed', category: 'provider_error' });
      expect((await charge()).body).toMatchObject({ id: first.id, result: { status: then } });
      expect(await statuses(paymentId)).toEqual([`charge ${then}`]);
    },
  );

  test('what moved although its provider had failed can be told by hand where it is asked again', async () => {
    const { charge, paymentId } = await unitWith({ provider_errors: 'asked_again' });
    await sandbox.control.addFault({ ...FAILED, path: `/payments/${paymentId}/charges` });
    const { id } = (await charge()).body;
    await sandbox.control.complete(id, { status: 'Succeed' });
    expect((await charge()).body).toMatchObject({ id, result: { status: 'Succeed' } });
  });

  test('a charge that pended until it failed is not asked for again', async () => {
    const { charge, paymentId } = await unitWith({ provider_errors: 'asked_again' });
    await sandbox.control.addFault({ action: 'result', status: 'Pending', times: 1, path: `*/${paymentId}/charges` });
    const first = await charge();
    await sandbox.control.complete(first.body.id, { status: 'Failed' });
    expect((await charge()).text).toBe(first.text);
    expect(await statuses(paymentId)).toEqual(['charge Failed']);
  });
});
