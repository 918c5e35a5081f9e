import Fastify from 'fastify';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { guardLoopback } from '../../sandbox/control-api/control-route.js';
import { DEFAULT_PROFILE } from '../../sandbox/business-units.js';
import { parseReconcilable } from '../../src/domain/reconcile/statement-rows.js';
import { parseStatement } from '../../src/domain/statement.js';
import {
  FAILING_CARD,
  GOOD_CARD,
  PENDING_THEN_SUCCEED,
  startTestSandbox,
  type TestSandbox,
  until,
} from './support/sandbox.js';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox({ webhookUrl: 'http://127.0.0.1:9/webhooks' });
});
afterAll(() => sandbox.close());
beforeEach(() => sandbox.control.reset());

describe('the ledger', () => {
  test('has one entry per transaction with its present status, declined ones included', async () => {
    const good = await sandbox.charged(GOOD_CARD, { reconciliation_id: 'l-good' });
    await sandbox.charged(FAILING_CARD, { reconciliation_id: 'l-failed' });
    const pending = await sandbox.charged(PENDING_THEN_SUCCEED, { reconciliation_id: 'l-pending' });
    const [entry, ...others] = await sandbox.control.ledger('l-good');
    expect(others).toEqual([]);
    expect(entry).toEqual({
      kind: 'charge',
      payment_id: good.paymentId,
      transaction_id: good.charge.body.id,
      amount: 1095,
      currency: 'USD',
      status: 'Succeed',
      idempotency_key: expect.any(String),
      reconciliation_id: 'l-good',
      created: good.charge.body.created,
    });
    expect(await sandbox.control.ledger('l-failed')).toMatchObject([{ status: 'Failed' }]);
    expect(await sandbox.control.ledger('l-pending')).toMatchObject([{ status: 'Pending' }]);
    await sandbox.control.complete(pending.charge.body.id, { status: 'Succeed' });
    expect(await sandbox.control.ledger('l-pending')).toMatchObject([{ status: 'Succeed' }]);
    expect(await sandbox.control.ledger('l-unknown')).toEqual([]);
    expect(await sandbox.control.ledger()).toHaveLength(3);
  });

  test('an entry without its own reconciliation id carries that of its payment', async () => {
    const { paymentId } = await sandbox.charged(FAILING_CARD, { reconciliation_id: 'l-first' });
    const { token } = await sandbox.control.tokenize(GOOD_CARD);
    await sandbox.api.charge(paymentId, token);
    expect(await sandbox.control.ledger('l-first')).toMatchObject([{ status: 'Failed' }, { status: 'Succeed' }]);
  });

  test('as a statement has what was made in a time, with when that became final, as JSON lines and as CSV', async () => {
    const good = await sandbox.charged(GOOD_CARD, { reconciliation_id: 'of a "shop", mine' });
    const pending = await sandbox.charged(PENDING_THEN_SUCCEED, { reconciliation_id: 's-2' });
    const [header, first, second, ...rest] = (await sandbox.control.statement()).trimEnd().split('\n');
    const { covers } = JSON.parse(header ?? '') as { covers: string };
    const [from = '', end = ''] = covers.split(',');
    expect(Date.parse(from)).toBeLessThan(Number(good.charge.body.created));
    expect(Date.parse(end)).toBeGreaterThan(Number(good.charge.body.created));
    expect(JSON.parse(first ?? '')).toEqual({
      reconciliation_id: 'of a "shop", mine',
      kind: 'charge',
      status: 'Succeed',
      amount: 1095,
      currency: 'USD',
      payment_id: good.paymentId,
      transaction_id: good.charge.body.id,
      created: new Date(Number(good.charge.body.created)).toISOString(),
      settled: expect.stringMatching(/Z$/),
    });
    expect(JSON.parse(second ?? '')).not.toHaveProperty('settled');
    expect(rest).toEqual([]);
    await sandbox.control.complete(pending.charge.body.id, { status: 'Succeed' });
    const csv = (await sandbox.control.statement({ format: 'csv' })).split('\n');
    expect(csv[1]).toBe('reconciliation_id,kind,status,amount,currency,payment_id,transaction_id,created,settled');
    expect(csv[2]).toMatch(/^"of a ""shop"", mine",charge,Succeed,1095,USD,/);
    expect(csv[3]).toMatch(/^s-2,charge,Succeed,.*Z,.*Z$/);
    const until = new Date(Number(good.charge.body.created)).toISOString();
    expect((await sandbox.control.statement({ until })).trimEnd().split('\n')).toHaveLength(1);
    expect((await sandbox.control.statement({ appId: 'nobody' })).trimEnd().split('\n')).toHaveLength(1);
    await expect(sandbox.control.statement({ from: 'today' })).rejects.toThrow(/from: must be an instant/);
    await expect(sandbox.control.statement({ from: until, until })).rejects.toThrow(/from: must be before until/);
    await expect(sandbox.control.statement({ format: 'pdf' as 'csv' })).rejects.toThrow(/format: must be jsonl or csv/);
  });

  test('as a statement of one unit says so: it is refused where only a whole one will do', async () => {
    await sandbox.charged(GOOD_CARD, { reconciliation_id: 's-unit' });
    const whole = await sandbox.control.statement();
    expect(parseStatement(whole, Date.now())).toHaveProperty('statement');
    for (const format of ['jsonl', 'csv'] as const) {
      const ofUnit = await sandbox.control.statement({ appId: 'holdfast-sandbox', format });
      const { statement } = parseReconcilable(ofUnit, { now: Date.now() }) as {
        statement: { units: ReadonlySet<string> };
      };
      expect([...statement.units]).toEqual(['holdfast-sandbox']);
      expect(parseStatement(ofUnit, Date.now())).toHaveProperty('faults');
    }
  });

  test('as a statement covers no time that is still to come, and by default all from the first payment on', async () => {
    const inMinutes = (count: number) => new Date(Date.now() + count * 60_000).toISOString();
    const old = { 'api-version': '1.2.0', 'idempotency-key': 's-updated' };
    const content = { amount: 500, currency: 'USD' };
    await sandbox.api.post('/payments', content, old);
    await sandbox.charged(GOOD_CARD, { reconciliation_id: 's-between' });
    await sandbox.control.advanceClock(1_000);
    await sandbox.api.post('/payments', content, old);
    const [header = '', ...lines] = (await sandbox.control.statement({ until: inMinutes(5) })).trimEnd().split('\n');
    const { covers } = JSON.parse(header) as { covers: string };
    const { now } = await sandbox.control.health();
    expect(Date.parse(covers.split(',')[1] ?? '')).toBeLessThanOrEqual(Date.parse(now));
    expect(lines.map((line) => (JSON.parse(line) as { reconciliation_id: string }).reconciliation_id)).toEqual([
      's-between',
    ]);
    await expect(sandbox.control.statement({ from: inMinutes(5), until: inMinutes(60) })).rejects.toThrow(/before now/);
  });

  test('a charge without a reconciliation id or key has null for them', async () => {
    const { token } = await sandbox.control.tokenize(GOOD_CARD);
    const payment = await sandbox.api.createPayment();
    const request = { payment_method: { type: 'tokenized', token } };
    await sandbox.api.post(`/payments/${payment.body.id}/charges`, request);
    expect(await sandbox.control.ledger()).toMatchObject([{ reconciliation_id: null, idempotency_key: null }]);
  });
});

describe('a part of the ledger', () => {
  test('of one environment alone, here and in a statement, has nothing of the other', async () => {
    const { paymentId } = await sandbox.charged();
    await sandbox.control.advanceClock(1);
    const has = async (env: 'test' | 'live') =>
      [await sandbox.control.ledgerOf({ env }), await sandbox.control.statement({ env })].map((shown) =>
        JSON.stringify(shown).includes(paymentId),
      );
    expect([await has('test'), await has('live')]).toEqual([
      [true, true],
      [false, false],
    ]);
  });

  test('has one payment with all its transactions, or the newest payments', async () => {
    const [first, second, third] = [await sandbox.charged(), await sandbox.charged(), await sandbox.charged()];
    await sandbox.api.post(`/payments/${first.paymentId}/refunds`, { reconciliation_id: 'refund-1' });
    const payments = async (filter: { paymentId?: string; latest?: number }) =>
      (await sandbox.control.ledgerOf(filter)).map(({ kind, payment_id: id }) => [kind, id]);
    expect(await payments({ paymentId: first.paymentId })).toEqual([
      ['charge', first.paymentId],
      ['refund', first.paymentId],
    ]);
    expect(await payments({ latest: 2 })).toEqual([
      ['charge', second.paymentId],
      ['charge', third.paymentId],
    ]);
    const [newest] = (await sandbox.control.deliveries()).slice(-1);
    // It may have been tried in between.
    expect(await sandbox.control.deliveries({ latest: 1 })).toMatchObject([{ id: newest?.id }]);
    for (const latest of ['0', '-1', 'x', '1e3']) {
      const { status, body } = await sandbox.api.get(`/sandbox/ledger?latest=${latest}`);
      expect([status, body['errors']]).toEqual([400, [expect.stringContaining('latest:')]]);
    }
  });
});

describe('time and settings', () => {
  test('pending charges follow the sandbox clock and the setting', async () => {
    const { paymentId, charge } = await sandbox.charged(PENDING_THEN_SUCCEED);
    const status = async () =>
      (await sandbox.api.get(`/payments/${paymentId}/charges/${charge.body.id}`)).body.result.status;
    await sandbox.control.advanceClock(5_000);
    expect(await status()).toBe('Pending');
    await sandbox.control.advanceClock(5_000);
    expect(await status()).toBe('Succeed');

    await sandbox.control.settings({ pendingMs: 1 });
    const quick = await sandbox.charged(PENDING_THEN_SUCCEED);
    await until(async () => {
      const { body } = await sandbox.api.get(`/payments/${quick.paymentId}`);
      return body.status === 'Captured' ? true : undefined;
    });
  });

  test('the clock never goes back, and offset and settings survive a restart', async () => {
    await sandbox.control.settings({ pendingMs: 1234 });
    await sandbox.control.advanceClock(86_400_000);
    await sandbox.restart();
    const health = await sandbox.control.health();
    expect(health).toMatchObject({ clock_offset_ms: 86_400_000, pending_ms: 1234 });
    expect(Date.parse(health.now)).toBeGreaterThan(Date.now() + 86_000_000);
    for (const advance of [-1, 1.5, 'x', undefined]) {
      const answer = await sandbox.api.post('/sandbox/clock', { advance_ms: advance });
      expect([answer.status, answer.body['errors']]).toEqual([400, [expect.stringContaining('advance_ms:')]]);
    }
  });

  test('reset forgets everything but what the sandbox boots with', async () => {
    await sandbox.charged();
    await sandbox.control.addFault({ action: 'status', status: 500 });
    await sandbox.control.putBusinessUnit({ app_id: 'another' });
    await sandbox.control.addWebhookEndpoint({ url: 'http://127.0.0.1:9/other' });
    await sandbox.control.advanceClock(1_000);
    const health = await sandbox.control.reset({ pendingMs: 77 });
    expect(health).toMatchObject({
      clock_offset_ms: 0,
      pending_ms: 77,
      payments: 0,
      transactions: 0,
      faults: 0,
      deliveries: 0,
    });
    expect(await sandbox.control.ledger()).toEqual([]);
    expect((await sandbox.control.businessUnits()).map((unit) => unit.app_id)).toEqual(['holdfast-sandbox']);
    expect(await sandbox.control.webhookEndpoints()).toMatchObject([{ url: 'http://127.0.0.1:9/webhooks' }]);
    expect((await sandbox.charged()).charge.status).toBe(201);
    await sandbox.restart();
    expect(await sandbox.control.ledger()).toHaveLength(1);
  });
});

describe('complete', () => {
  test('ends a pending transaction with the named result, and only a pending one', async () => {
    const { paymentId, charge } = await sandbox.charged(PENDING_THEN_SUCCEED);
    const result = { status: 'Failed', category: 'payment_method_declined', subCategory: 'lost_stolen_card' } as const;
    const ended = await sandbox.control.complete(charge.body.id, result);
    expect(ended).toMatchObject({
      payment_id: paymentId,
      result: { status: 'Failed', category: 'payment_method_declined', sub_category: 'lost_stolen_card' },
    });
    const read = await sandbox.api.get(`/payments/${paymentId}/charges/${charge.body.id}`);
    expect(read.body.result).toEqual(ended.result);
    await expect(sandbox.control.complete(charge.body.id, { status: 'Succeed' })).rejects.toThrow('Failed already');
    await sandbox.control.advanceClock(60_000);
    expect((await sandbox.api.get(`/payments/${paymentId}`)).body.status).toBe('Initialized');
    await expect(sandbox.control.complete('nothing', { status: 'Succeed' })).rejects.toThrow('no transaction nothing');
  });
});

describe('business units', () => {
  test('a unit gets keys where none are named, shows its private key once, and has the documented defaults', async () => {
    const unit = await sandbox.control.putBusinessUnit({ app_id: 'shop-2' });
    expect(unit.profile).toEqual(DEFAULT_PROFILE);
    expect(unit.private_key.length).toBeGreaterThan(20);
    const listed = (await sandbox.control.businessUnits()).find(({ app_id: id }) => id === 'shop-2');
    expect(listed).toEqual({ ...unit, private_key: 'set' });
    const changed = await sandbox.control.putBusinessUnit({ app_id: 'shop-2', profile: { list_lag_ms: 5 } });
    expect(changed).toEqual({ ...unit, profile: { ...DEFAULT_PROFILE, list_lag_ms: 5 } });
  });

  test('a wrong unit is refused with every fault named', async () => {
    const body = { app_id: 'a b', private_key: '', profile: { key_scope: 'galaxy', speed: 1 }, colour: 'red' };
    const answer = await sandbox.api.post('/sandbox/business-units', body);
    const errors = (answer.body['errors'] as string[]).join('\n');
    expect(answer.status).toBe(400);
    for (const name of ['app_id', 'private_key', 'profile.key_scope', 'speed', 'colour']) {
      expect(errors).toContain(`${name}:`);
    }
    await expect(
      sandbox.control.putBusinessUnit({ app_id: 'thief', public_key: 'sandbox-public-key' }),
    ).rejects.toThrow('is that of business unit holdfast-sandbox');
  });
});

test('the control API answers on loopback only', async () => {
  const app = Fastify();
  guardLoopback(app, () => 'https://pay.example');
  app.get('/health', async () => 'ok');
  for (const [remoteAddress, status] of [
    ['127.0.0.1', 200],
    ['127.8.0.1', 200],
    ['::1', 200],
    ['::ffff:127.0.0.1', 200],
    ['10.0.0.7', 403],
    ['::ffff:10.0.0.7', 403],
    ['128.0.0.1', 403],
  ] as const) {
    expect((await app.inject({ url: '/health', remoteAddress })).statusCode).toBe(status);
  }
  await app.close();
});

test.each([
  [{ host: 'localhost:4010' }, 200],
  [{ host: '[::1]:4010' }, 200],
  [{ host: 'pay.example' }, 200],
  [{ host: '127.0.0.1:4010', origin: 'http://127.0.0.1:4010' }, 200],
  [{ host: 'rebound.example:4010' }, 403],
  [{ host: '127.0.0.1.rebound.example' }, 403],
  [{ host: '127.0.0.1:4010', origin: 'http://127.0.0.1:4040' }, 403],
  [{ host: '127.0.0.1:4010', origin: 'https://elsewhere.example' }, 403],
  [{ host: '127.0.0.1:4010', origin: 'null' }, 403],
])('the control API answers a request with %j with %i', async (headers, status) => {
  const app = Fastify();
  guardLoopback(app, () => 'https://pay.example');
  app.post('/reset', async () => 'done');
  expect((await app.inject({ method: 'POST', url: '/reset', headers })).statusCode).toBe(status);
  await app.close();
});
