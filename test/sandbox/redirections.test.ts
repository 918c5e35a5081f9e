import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { PENDING_THEN_FAILED, startTestSandbox, type TestSandbox } from './support/sandbox.js';

const SITE = 'https://shop.example/back?order=1';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

const wallet = (untokenized_result_status: string) => ({
  type: 'untokenized',
  source_type: 'ewallet',
  vendor: 'wallet',
  additional_details: { untokenized_result_status },
});

test('a pending charge with a merchant site sends the customer away, and it ends when they come back', async () => {
  const path = `/payments/${(await sandbox.api.createPayment()).body.id}`;
  const body = { payment_method: wallet('pending_succeed'), merchant_site_url: SITE };
  const charge = await sandbox.api.post(`${path}/charges`, body);
  const redirection = charge.body['redirection'] as { id: string; url: string; merchant_site_url: string };
  expect(redirection).toEqual({
    id: expect.any(String),
    created: expect.stringMatching(/^\d{13}$/),
    merchant_site_url: SITE,
    url: expect.stringContaining(sandbox.url),
  });
  expect((await sandbox.api.get(`${path}/redirections/${redirection.id}`)).body).toEqual(redirection);
  expect(JSON.parse((await sandbox.api.get(`${path}/redirections`)).text)).toEqual([redirection]);
  const related = (await sandbox.api.get(`${path}?expand=redirections`)).body['related_resources'];
  expect(related).toMatchObject({ redirections: [redirection] });

  const opened = await fetch(redirection.url, { redirect: 'manual' });
  expect([opened.status, opened.headers.get('location')]).toEqual([303, SITE]);
  expect((await sandbox.api.get(path)).body.status).toBe('Captured');
  expect((await fetch(redirection.url, { redirect: 'manual' })).status).toBe(303);
});

test('a customer who comes back from a method that fails leaves the payment open', async () => {
  const { charge, paymentId } = await sandbox.charged(PENDING_THEN_FAILED, { merchant_site_url: SITE });
  await fetch((charge.body['redirection'] as { url: string }).url, { redirect: 'manual' });
  expect((await sandbox.api.get(`/payments/${paymentId}`)).body.status).toBe('Initialized');
});

test('what is decided at once redirects nobody, and unknown redirections are 404s', async () => {
  const { charge, paymentId } = await sandbox.charged(undefined, { merchant_site_url: SITE });
  expect(charge.body).not.toHaveProperty('redirection');
  expect((await sandbox.api.get(`/payments/${paymentId}/redirections`)).text).toBe('[]');
  const unknown = await sandbox.api.get(`/payments/${paymentId}/redirections/${randomUUID()}`);
  expect([unknown.status, unknown.body.more_info]).toEqual([404, 'redirections resource does not exits']);
  const page = await fetch(`${sandbox.url}/sandbox/redirections/${paymentId}/${charge.body.id}`);
  expect(page.status).toBe(404);
});

test('the supported payment methods name every source', async () => {
  const answer = await sandbox.api.get('/supported-payment-methods');
  expect(answer.status).toBe(200);
  const [configuration] = JSON.parse(answer.text) as { supported_payment_methods: { source_type: string }[] }[];
  expect(configuration?.supported_payment_methods.map((method) => method.source_type)).toEqual([
    ...['credit_card', 'bank_transfer', 'cash', 'ewallet', 'debit_redirect', 'loyalty', 'credit'],
  ]);
});
