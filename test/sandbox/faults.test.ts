import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import type { FaultInput } from '../../sandbox/control.js';
import { GOOD_CARD, startTestSandbox, type TestSandbox } from './support/sandbox.js';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());
afterEach(() => sandbox.control.clearFaults());

/** A charge request that is ready to be sent, with its reference. */
async function readyCharge(reference: string): Promise<() => ReturnType<TestSandbox['api']['charge']>> {
  const { token } = await sandbox.control.tokenize(GOOD_CARD);
  const details = { holdfast_workflow_id: `payment-${reference}` };
  const payment = await sandbox.api.createPayment({ additional_details: details });
  return () => sandbox.api.charge(payment.body.id, token, { reconciliation_id: reference }, `key-${reference}`);
}

const CHARGES = { method: 'POST', path: '*/charges' };

describe('faults on requests', () => {
  test('drop_reply acts and then closes the connection', async () => {
    const charge = await readyCharge('f-drop');
    await sandbox.control.addFault({ ...CHARGES, action: 'drop_reply', times: 1 });
    await expect(charge()).rejects.toThrow('fetch failed');
    expect(await sandbox.control.ledger('f-drop')).toMatchObject([{ status: 'Succeed' }]);
    expect((await charge()).status).toBe(201);
    expect(await sandbox.control.ledger('f-drop')).toHaveLength(1);
  });

  test('refuse closes the connection without acting', async () => {
    const charge = await readyCharge('f-refuse');
    await sandbox.control.addFault({ ...CHARGES, action: 'refuse', times: 1 });
    await expect(charge()).rejects.toThrow('fetch failed');
    expect(await sandbox.control.ledger('f-refuse')).toEqual([]);
  });

  test.each([
    [400, 'api_request_error'],
    [401, 'api_authentication_error'],
    [403, 'api_authentication_error'],
    [404, 'api_request_error'],
    [409, 'api_request_error'],
    [429, 'api_request_error'],
    [500, 'api_error'],
    [502, 'api_error'],
    [503, 'provider_network_error'],
    [504, 'api_error'],
  ])('status %i is answered with its documented body (%s) and nothing is done', async (status, category) => {
    const charge = await readyCharge(`f-${status}`);
    await sandbox.control.addFault({ ...CHARGES, action: 'status', status, retry_after_s: 7, times: 1 });
    const answer = await charge();
    expect(answer.status).toBe(status);
    expect(answer.body.category).toBe(category);
    expect(answer.body.description).toEqual(expect.any(String));
    expect(answer.headers.get('retry-after')).toBe('7');
    expect(answer.headers.get('x-svc-request-id')).toMatch(/^[0-9a-f-]{36}$/);
    expect(await sandbox.control.ledger(`f-${status}`)).toEqual([]);
  });

  test('garbage is no JSON and nothing is done, unless it is to come after', async () => {
    const charge = await readyCharge('f-garbage');
    await sandbox.control.addFault({ ...CHARGES, action: 'garbage', times: 1 });
    const before = await charge();
    expect(before.status).toBe(201);
    expect(() => JSON.parse(before.text) as unknown).toThrow();
    expect(await sandbox.control.ledger('f-garbage')).toEqual([]);
    await sandbox.control.addFault({ ...CHARGES, action: 'garbage', after: true, times: 1 });
    const after = await charge();
    expect(() => JSON.parse(after.text) as unknown).toThrow();
    expect(await sandbox.control.ledger('f-garbage')).toHaveLength(1);
  });

  test('garbage that comes after a deletion is no answer without a body', async () => {
    const path = `/customers/${(await sandbox.api.post('/customers', { customer_reference: 'f-deleted' })).body.id}`;
    await sandbox.control.addFault({ action: 'garbage', method: 'DELETE', path, after: true, times: 1 });
    const answer = await sandbox.api.call('DELETE', path);
    expect([answer.status, answer.text]).toEqual([200, '{"id":"']);
    expect((await sandbox.api.get(path)).status).toBe(404);
  });

  test('delay holds a request back before it acts', async () => {
    const charge = await readyCharge('f-delay');
    await sandbox.control.addFault({ ...CHARGES, action: 'delay', delay_ms: 300, times: 1 });
    const sent = charge();
    const other = await readyCharge('f-not-delayed');
    expect((await other()).status).toBe(201);
    expect(await sandbox.control.ledger('f-delay')).toEqual([]);
    expect((await sent).status).toBe(201);
    expect(await sandbox.control.ledger('f-delay')).toHaveLength(1);
  });

  test('a delay and another action work together', async () => {
    const charge = await readyCharge('f-both');
    await sandbox.control.addFault({ ...CHARGES, action: 'delay', delay_ms: 20 });
    await sandbox.control.addFault({ ...CHARGES, action: 'status', status: 503 });
    expect((await charge()).status).toBe(503);
    expect(await sandbox.control.faults()).toMatchObject([{ fired: 1 }, { fired: 1 }]);
  });

  test.each([
    [{ status: 'Failed', category: 'payment_method_declined', sub_category: 'insufficient_funds' }, 'Initialized'],
    [{ status: 'Succeed' }, 'Captured'],
    [{ status: 'Pending' }, 'Pending'],
  ])('result makes a transaction end as %j', async (planted, paymentStatus) => {
    const reference = `f-result-${planted.status}`;
    const charge = await readyCharge(reference);
    await sandbox.control.addFault({ action: 'result', reconciliation_id: reference, ...planted });
    const answer = await charge();
    expect(answer.body.result).toMatchObject(planted);
    const [entry] = await sandbox.control.ledger(reference);
    expect((await sandbox.api.get(`/payments/${entry?.payment_id}`)).body.status).toBe(paymentStatus);
  });

  test('a planted Pending may be shown as another word until it ends', async () => {
    const charge = await readyCharge('f-word');
    await sandbox.control.addFault({ ...CHARGES, action: 'result', status: 'Pending', shown_as: 'Settling' });
    const { body } = await charge();
    expect(body.result).toEqual({ status: 'Settling' });
    const [entry] = await sandbox.control.ledger('f-word');
    expect(entry).toMatchObject({ status: 'Pending' });
    await sandbox.control.complete(body.id, { status: 'Succeed' });
    const read = await sandbox.api.get(`/payments/${entry?.payment_id}/charges/${body.id}`);
    expect(read.body.result).toMatchObject({ status: 'Succeed' });
  });

  test('a planted result is how a card that pends ends', async () => {
    const { token } = await sandbox.control.tokenize('4000000000000077');
    const payment = await sandbox.api.createPayment();
    await sandbox.control.addFault({ action: 'result', status: 'Failed', category: 'payment_method_declined' });
    const charge = await sandbox.api.charge(payment.body.id, token, { reconciliation_id: 'f-late' });
    expect(charge.body.result).toEqual({ status: 'Pending' });
    await sandbox.control.advanceClock(10_000);
    const read = await sandbox.api.get(`/payments/${payment.body.id}/charges/${charge.body.id}`);
    expect(read.body.result).toMatchObject({ status: 'Failed', category: 'payment_method_declined' });
  });
});

describe('which requests a fault fits', () => {
  const hit = { action: 'status', status: 418 } as const;

  test('a fault bound to a reference meets every request of its payment and no other', async () => {
    await sandbox.control.addFault({ ...hit, reconciliation_id: 'mine' });
    const details = (reference: string) => ({ additional_details: { holdfast_workflow_id: `payment-${reference}` } });
    expect((await sandbox.api.createPayment(details('mine'))).status).toBe(418);
    const other = await sandbox.api.createPayment(details('other'));
    expect(other.status).toBe(201);
    expect((await sandbox.api.get(`/payments/${other.body.id}`)).status).toBe(200);

    await sandbox.control.clearFaults();
    const mine = await sandbox.api.createPayment(details('mine'));
    const { charge, paymentId } = await sandbox.charged(GOOD_CARD, { reconciliation_id: 'mine' });
    await sandbox.control.addFault({ ...hit, reconciliation_id: 'mine' });
    expect((await sandbox.api.get(`/payments/${mine.body.id}/charges`)).status).toBe(418);
    expect((await sandbox.api.get(`/payments/${paymentId}/charges/${charge.body.id}`)).status).toBe(418);
    expect((await sandbox.api.charge(other.body.id, 't', { reconciliation_id: 'mine' })).status).toBe(418);
    expect((await sandbox.api.charge(other.body.id, 't', { reconciliation_id: 'other' })).status).toBe(400);
  });

  test.each<[string, FaultInput, boolean]>([
    ['any request', hit, true],
    ['the method', { ...hit, method: 'POST' }, true],
    ['another method', { ...hit, method: 'GET' }, false],
    ['any method', { ...hit, method: '*' }, true],
    ['the whole path', { ...hit, path: '/payments' }, true],
    ['a part of the path', { ...hit, path: '/pay' }, false],
    ['any run of characters', { ...hit, path: '/*ments' }, true],
    ['never by probability', { ...hit, probability: 0 }, false],
  ])('%s', async (_what, fault, hits) => {
    await sandbox.control.addFault(fault);
    expect((await sandbox.api.createPayment()).status).toBe(hits ? 418 : 201);
  });

  test('a star runs over slashes', async () => {
    await sandbox.control.addFault({ ...hit, path: '/payments/*/captures' });
    expect((await sandbox.api.post('/payments/a/b/c/captures', {})).status).toBe(418);
  });

  test('probability is a share of requests', async () => {
    await sandbox.control.addFault({ ...hit, probability: 0.5 });
    const answers = await Promise.all(Array.from({ length: 400 }, () => sandbox.api.get('/nowhere')));
    const hits = answers.filter((answer) => answer.status === 418).length;
    // Outside these bounds by chance once in 10^13 runs.
    expect(hits).toBeGreaterThan(125);
    expect(hits).toBeLessThan(275);
  });

  test('times counts what fired, and the control API is never hit', async () => {
    const { id } = await sandbox.control.addFault({ ...hit, times: 2 });
    const statuses: number[] = [];
    for (let i = 0; i < 4; i++) statuses.push((await sandbox.api.createPayment()).status);
    expect(statuses).toEqual([418, 418, 201, 201]);
    expect(await sandbox.control.faults()).toMatchObject([{ id, fired: 2, times: 0 }]);
  });

  test('faults survive a restart and can be removed one by one', async () => {
    const { id } = await sandbox.control.addFault({ ...hit, times: 5 });
    await sandbox.restart();
    expect((await sandbox.api.createPayment()).status).toBe(418);
    expect(await sandbox.control.faults()).toMatchObject([{ id, times: 4 }]);
    await sandbox.control.removeFault(id);
    expect((await sandbox.api.createPayment()).status).toBe(201);
    await expect(sandbox.control.removeFault(id)).rejects.toThrow(`there is no fault ${id}`);
  });
});

describe('a malformed fault', () => {
  test.each([
    ['{"action":"explode","probability":2,"times":0,"colour":1}', ['action', 'probability', 'times', 'colour']],
    ['{"action":"status"}', ['status']],
    ['{"action":"status","status":200,"delay_ms":-1}', ['status', 'delay_ms']],
    ['{"action":"delay","status":500}', ['delay_ms', 'status']],
    ['{"action":"result","status":"Maybe"}', ['status']],
    ['{"action":"result","status":"Succeed","category":"x"}', ['category']],
    ['{"action":"result","status":"Failed","shown_as":"x"}', ['shown_as']],
    ['{"action":"lose_event","method":"POST"}', ['method']],
    ['{"action":"result","status":"Failed","method":"GET"}', ['method']],
    ['{"action":"delay_event"}', ['delay_ms']],
    ['{"method":"TRACE"}', ['action', 'method']],
    ['[1]', ['body']],
    ['nonsense', ['body']],
  ])('%s is refused, naming %j', async (body, names) => {
    const answer = await sandbox.api.post('/sandbox/faults', body);
    expect(answer.status).toBe(400);
    const errors = answer.body['errors'] as string[];
    for (const name of names) expect(errors).toContainEqual(expect.stringContaining(`${name}:`));
    expect(await sandbox.control.faults()).toEqual([]);
  });
});
