import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startReceiver } from './support/receiver.js';
import { authorized, GOOD_CARD, startTestSandbox, type TestSandbox } from './support/sandbox.js';

const PATH = 'risk-analyses';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox({ settings: { eventDelayMs: 0 } });
});
afterAll(() => sandbox.close());

const payment = async (content: object = {}) => `/payments/${(await sandbox.api.createPayment(content)).body.id}`;
const analyse = (path: string, body: unknown = {}, headers: Record<string, string | undefined> = {}) =>
  sandbox.api.post(`${path}/${PATH}`, body, headers);
const outcome = (provider_data: unknown) =>
  (provider_data as { risk_analyses_result: { score: number; decision: string } }).risk_analyses_result;

describe('risk analyses', () => {
  test.each([
    ['ada@example.com', 'approve', 'Succeed'],
    ['reject-hub@email.com', 'decline', 'Failed'],
    ['manual-review-hub@email.com', 'review', 'Pending'],
  ])('%s is decided as %s with the status %s, from either address', async (email, decision, status) => {
    for (const address of ['billing_address', 'shipping_address']) {
      const path = await payment({ [address]: { email } });
      const made = await analyse(path);
      expect([made.status, made.body.result]).toEqual([201, { status }]);
      expect(outcome(made.body['provider_data'])).toEqual({ decision, score: expect.any(Number) });
      expect((await sandbox.api.get(path)).body.status).toBe('Initialized');
    }
  });

  test('an analysis echoes its request without the provider key, and names its own address', async () => {
    const path = await payment();
    const { token } = await sandbox.control.tokenize(GOOD_CARD);
    const details = { product_desc_extra1: 'a', payer_birthday: '1990/12/31' };
    const request = {
      transaction_type: 'charge',
      payment_method: { type: 'tokenized', token },
      session_id: 's',
      merchant: { mcc: '1234' },
      additional_details: { a: 'b' },
      provider_specific_data: { payu_risk: { additional_details: details } },
    };
    const made = await analyse(path, request, { 'x-client-ip-address': '203.0.113.7' });
    expect(made.body).toMatchObject({
      transaction_type: 'charge',
      session_id: 's',
      merchant: { mcc: '1234' },
      additional_details: { a: 'b' },
      provider_specific_data: { additional_details: details },
      ip_address: '203.0.113.7',
      payment_method: { token, last_4_digits: '1111' },
    });
    const self = `${sandbox.url}${path}/${PATH}`;
    expect(made.headers.get('self')).toBe(`${self}/${made.body.id}`);
    const read = await sandbox.api.get(`${path}/${PATH}/${made.body.id}`);
    expect([read.body, read.headers.get('self')]).toEqual([made.body, `${self}/${made.body.id}`]);
    const list = await sandbox.api.get(`${path}/${PATH}`);
    expect([JSON.parse(list.text), list.headers.get('self')]).toEqual([[made.body], self]);
    expect((await sandbox.api.charge(path.split('/')[2] ?? '', token)).body.result.status).toBe('Succeed');
  });

  test('a review is decided later, once, keeps its score, and is announced', async () => {
    const receiver = await startReceiver();
    await sandbox.control.addWebhookEndpoint({ url: receiver.url, events: ['payment.risk-analysis.*'] });
    const path = await payment({ billing_address: { email: 'manual-review-hub@email.com' } });
    const made = await analyse(path);
    expect(await sandbox.control.decideRisk(made.body.id, 'decline')).toMatchObject({ decision: 'decline' });
    const read = await sandbox.api.get(`${path}/${PATH}/${made.body.id}`);
    expect(read.body.result).toEqual({ status: 'Failed' });
    const { score } = outcome(made.body['provider_data']);
    expect(outcome(read.body['provider_data'])).toEqual({ decision: 'decline', score });
    const event = await receiver.event('payment.risk-analysis.update');
    expect(event.body.data).toEqual(read.body);
    await expect(sandbox.control.decideRisk(made.body.id, 'approve')).rejects.toThrow('409');
    await expect(sandbox.control.decideRisk(randomUUID(), 'approve')).rejects.toThrow('no risk analysis');
    await receiver.close();
  });

  test('a decision after the charge leaves the payment as the charge made it', async () => {
    const path = await payment({ shipping_address: { email: 'manual-review-hub@email.com' } });
    const made = await analyse(path);
    const { token } = await sandbox.control.tokenize(GOOD_CARD);
    await sandbox.api.charge(path.split('/')[2] ?? '', token);
    await sandbox.control.decideRisk(made.body.id, 'approve');
    expect((await sandbox.api.get(path)).body.status).toBe('Captured');
    expect((await sandbox.control.ledger()).filter(({ payment_id: id }) => path.endsWith(id))).toMatchObject([
      { kind: 'charge' },
    ]);
  });

  test('an authorized payment can be analysed, a captured one is a conflict in the words of the service', async () => {
    const { path } = await authorized(sandbox);
    expect((await analyse(path)).status).toBe(201);
    await sandbox.api.post(`${path}/captures`, {});
    const refused = await analyse(path);
    expect([refused.status, refused.body]).toEqual([
      409,
      {
        category: 'api_request_error',
        description: 'There was conflict with the resource current state.',
        more_info: 'There was conflict with payment resource current state.',
      },
    ]);
  });

  test('line items without a price are refused by name, and nothing is made', async () => {
    const path = await payment({ order: { line_items: [{ id: '1', unit_price: 5 }, { id: '2' }] } });
    const refused = await analyse(path);
    expect([refused.status, refused.body.category]).toEqual([400, 'api_request_error']);
    expect(refused.body.more_info).toBe('order.line_items.1.unit_price: is needed');
    expect((await sandbox.api.get(`${path}/${PATH}`)).text).toBe('[]');
  });

  test.each([
    [{ provider_specific_data: { payu_risk: { additional_details: { colour: 'red' } } } }, 'colour'],
    [{ provider_specific_data: { payu_risk: { additional_details: { payer_birthday: '31.12.1990' } } } }, 'yyyy/mm/dd'],
    [{ merchant: { mcc: '12' } }, 'merchant.mcc'],
    [{ transaction_type: 1 }, 'transaction_type'],
    [{ payment_method: { type: 'tokenized', token: 'unknown' } }, 'Token does not exist.'],
  ])('refuses %j and says why', async (body, reason) => {
    const answer = await analyse(await payment(), body);
    expect([answer.status, answer.body.more_info]).toEqual([400, expect.stringContaining(reason)]);
  });

  test.each(['1.0.0', '1.1.0', '1.2.0', undefined])('version %s has no risk analyses', async (version) => {
    const path = await payment();
    for (const answer of [
      await analyse(path, {}, { 'api-version': version }),
      await sandbox.api.get(`${path}/${PATH}`, { 'api-version': version }),
    ]) {
      expect([answer.status, answer.body.more_info]).toEqual([400, 'API version is not supported']);
    }
  });

  test('unknown payments and analyses are 404s that say no more', async () => {
    const path = await payment();
    for (const unknown of [`/payments/${randomUUID()}/${PATH}`, `${path}/${PATH}/${randomUUID()}`]) {
      const answer = await sandbox.api.get(unknown);
      expect([answer.status, answer.body.more_info]).toEqual([404, undefined]);
    }
  });

  test('a provider that was not reached has decided nothing, and is asked again under the same key', async () => {
    const path = await payment();
    const fault = { action: 'result', status: 'Failed', category: 'provider_network_error', times: 1 } as const;
    await sandbox.control.addFault({ ...fault, path: `${path}/${PATH}` });
    const { token } = await sandbox.control.tokenize(GOOD_CARD);
    const ask = () =>
      analyse(path, { payment_method: { type: 'tokenized', token } }, { 'idempotency-key': 'risk-net' });
    const first = await ask();
    expect(first.body.result).toMatchObject({ status: 'Failed', category: 'provider_network_error' });
    expect(first.body['provider_data']).not.toHaveProperty('risk_analyses_result');
    expect(JSON.stringify(first.body['provider_data'])).not.toContain('decline');
    const second = await ask();
    expect([second.body.id, second.body.result]).toEqual([first.body.id, { status: 'Succeed' }]);
    expect(outcome(second.body['provider_data'])).toEqual({ decision: 'approve', score: 10 });
    expect((await ask()).text).toBe(second.text);
    expect(JSON.parse((await sandbox.api.get(`${path}/${PATH}`)).text)).toEqual([second.body]);
  });

  test('a review that is completed with a category has decided nothing either', async () => {
    const path = await payment({ billing_address: { email: 'manual-review-hub@email.com' } });
    const { id } = (await analyse(path)).body;
    const failed = { status: 'Failed', category: 'provider_error', subCategory: 'unknown' } as const;
    const { result } = await sandbox.control.complete(id, failed);
    expect(result).toMatchObject({ status: 'Failed', category: 'provider_error', sub_category: 'unknown' });
    const read = await sandbox.api.get(`${path}/${PATH}/${id}`);
    expect(read.body.result).toEqual(result);
    expect(read.body['provider_data']).not.toHaveProperty('risk_analyses_result');
  });

  test('the same key answers with the first analysis, and a planted result decides it', async () => {
    const path = await payment();
    await sandbox.control.addFault({ action: 'result', status: 'Failed', path: `${path}/${PATH}`, times: 1 });
    const first = await analyse(path, {}, { 'idempotency-key': 'risk' });
    expect(outcome(first.body['provider_data']).decision).toBe('decline');
    const again = await analyse(path, {}, { 'idempotency-key': 'risk' });
    expect([again.text, again.headers.get('self')]).toEqual([first.text, first.headers.get('self')]);
  });
});
