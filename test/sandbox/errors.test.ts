import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestSandbox, until, type TestSandbox } from './support/sandbox.js';

const INVALID = 'One or more request parameters are invalid.';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

describe('error answers', () => {
  test('every answer carries a request id of its own', async () => {
    const answers = await Promise.all([
      sandbox.api.createPayment(),
      sandbox.api.get('/nowhere'),
      sandbox.api.get('/payments/%E0%A4%A'),
      sandbox.api.createPayment({ amount: 'x' }),
      sandbox.api.get('/sandbox/health'),
    ]);
    const ids = answers.map((answer) => answer.headers.get('x-svc-request-id'));
    expect(new Set(ids).size).toBe(answers.length);
    for (const id of ids) expect(id).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each([
    ['a wrong private key', { 'private-key': 'wrong' }],
    ['an unknown app id', { 'app-id': 'unknown' }],
  ])('%s is a 401', async (_what, headers) => {
    const answer = await sandbox.api.get('/payments/0b1c2d3e-0000-4000-8000-000000000000', headers);
    expect(answer.status).toBe(401);
    expect(answer.body.category).toBe('api_authentication_error');
    expect(Object.keys(answer.body)).toEqual(['category', 'description']);
  });

  test.each([
    ['no private key', { 'private-key': undefined }, 'Missing private_key header'],
    ['no credentials', { 'app-id': undefined, 'private-key': undefined }, /Missing app_id header,Missing private_key/],
    ['another content type', { 'content-type': 'text/plain' }, 'content-type should be application/json'],
    ['another charset', { 'content-type': 'application/json; charset=latin1' }, 'content-type charset should be utf-8'],
    ['an accept of HTML', { accept: 'text/html' }, 'accept should be */* or application/json'],
    ['an empty version', { 'api-version': '' }, 'API version is not supported'],
    ['a version of the future', { 'api-version': '9.9.9' }, 'API version is not supported'],
    ['a version named like an object member', { 'api-version': 'constructor' }, 'API version is not supported'],
    [
      'everything wrong',
      { 'content-type': 'text/plain', accept: 'text/html', 'api-version': '2' },
      'content-type should be application/json,accept should be */* or application/json,API version is not supported',
    ],
  ])('%s is a 400 in the words of the service', async (_what, headers, moreInfo) => {
    const answer = await sandbox.api.post('/payments', { amount: 1, currency: 'USD' }, headers);
    expect(answer.status).toBe(400);
    expect(answer.body).toMatchObject({ category: 'api_request_error', description: INVALID });
    if (typeof moreInfo === 'string') expect(answer.body.more_info).toBe(moreInfo);
    else expect(answer.body.more_info).toMatch(moreInfo);
  });

  test('header names with underscores are taken too', async () => {
    const headers = { 'app-id': undefined, 'private-key': undefined };
    const spelt = { app_id: 'holdfast-sandbox', private_key: 'sandbox-private-key', idempotency_key: 'underscored' };
    const make = () => sandbox.api.post('/payments', { amount: 1, currency: 'USD' }, { ...headers, ...spelt });
    const first = await make();
    expect(first.status).toBe(201);
    expect((await make()).body.id).toBe(first.body.id);
  });

  test.each([
    ['cut off', '{"amount":'],
    ['empty', ''],
    ['nested without end', '['.repeat(100_000)],
    ['nested too deep', `${'['.repeat(200)}${']'.repeat(200)}`],
  ])('a body that is %s is a 400', async (_what, body) => {
    const answer = await sandbox.api.post('/payments', body);
    expect([answer.status, answer.body.more_info]).toEqual([400, 'Request body must be valid json']);
  });

  test('a body above 1 MiB is a 400, not a crash', async () => {
    const answer = await sandbox.api.createPayment({ statement_soft_descriptor: 'x'.repeat(1_100_000) });
    expect([answer.status, answer.body.description]).toEqual([400, INVALID]);
  });

  test.each([
    ['GET', '/'],
    ['GET', '/payments'],
    ['DELETE', '/payments/0b1c2d3e-0000-4000-8000-000000000000'],
    ['POST', '/sandbox/unknown'],
  ])('%s %s is no route: 404', async (method, path) => {
    const answer = await sandbox.api.call(method, path);
    expect(answer.status).toBe(404);
    expect(answer.body).toEqual({
      category: 'api_request_error',
      description: 'The resource was not found.',
      more_info: 'Path not found',
    });
  });

  test('bytes that are no HTTP end that connection only', async () => {
    const socket = connect(Number(new URL(sandbox.url).port), '127.0.0.1');
    let closed = false;
    socket.on('close', () => (closed = true)).on('error', () => undefined);
    socket.write('\u0000\u0001 not http\r\n\r\n');
    socket.resume();
    await until(() => closed || undefined);
    expect((await sandbox.api.createPayment()).status).toBe(201);
  });
});
