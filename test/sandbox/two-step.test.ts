import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  authorized,
  FAILING_CARD,
  GOOD_CARD,
  PENDING_THEN_SUCCEED,
  startTestSandbox,
  type TestSandbox,
} from './support/sandbox.js';

const CONFLICT = {
  category: 'api_request_error',
  description: 'There was conflict with payment resource current state.',
  more_info: 'Please check the current state of the payment.',
};

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

const statusOf = async (path: string) => (await sandbox.api.get(path)).body.status;
const post = (path: string, body?: object, key: string = randomUUID()) =>
  sandbox.api.call('POST', path, body, { 'idempotency-key': key });

describe('authorize and capture', () => {
  test('an authorization holds, a capture takes, a refund refunds; each has its observed shape', async () => {
    const { path, authorization } = await authorized(sandbox, {}, { reconciliation_id: 'two-step' });
    expect(authorization.status).toBe(201);
    expect(authorization.body.result).toEqual({ status: 'Succeed' });
    expect(authorization.body['provider_data']).toMatchObject({ response_code: '0', description: 'Authorized.' });
    expect(authorization.body).not.toHaveProperty('currency');
    expect(await statusOf(path)).toBe('Authorized');

    const capture = await post(`${path}/captures`);
    expect([capture.status, capture.body.result, capture.body.amount]).toEqual([201, { status: 'Succeed' }, 6_000]);
    expect(capture.body['provider_data']).toMatchObject({ description: 'Captured.' });
    expect(await statusOf(path)).toBe('Captured');

    const refund = await post(`${path}/refunds`, { amount: 4_500, reason: 'returned', capture_id: capture.body.id });
    expect([refund.status, refund.body.result, refund.body.amount]).toEqual([201, { status: 'Succeed' }, 4_500]);
    expect(refund.body['capture_id']).toBe(capture.body.id);
    expect(refund.body).not.toHaveProperty('reason');
    expect(await statusOf(path)).toBe('Refunded');

    for (const [kind, made] of [
      ['captures', capture],
      ['refunds', refund],
    ] as const) {
      expect((await sandbox.api.get(`${path}/${kind}/${made.body.id}`)).body).toEqual(made.body);
      expect(JSON.parse((await sandbox.api.get(`${path}/${kind}`)).text)).toEqual([made.body]);
    }
    const ids = [authorization, capture, refund].map((made) => (made.body['provider_data'] as Data).external_id);
    expect(new Set(ids).size).toBe(1);
    expect(await sandbox.control.ledger('two-step')).toMatchObject([
      { kind: 'authorization', amount: 6_000, currency: 'USD', status: 'Succeed' },
      { kind: 'capture', amount: 6_000, reconciliation_id: 'two-step' },
      { kind: 'refund', amount: 4_500, reconciliation_id: 'two-step' },
    ]);
  });

  test('a void cancels an authorization and shows no amount', async () => {
    const { path } = await authorized(sandbox, {}, { reconciliation_id: 'voided' });
    const voided = await post(`${path}/voids`, {});
    expect([voided.status, voided.body.result]).toEqual([201, { status: 'Succeed' }]);
    expect(voided.body).not.toHaveProperty('amount');
    expect(voided.body['provider_data']).toMatchObject({ description: 'Canceled.' });
    expect(await statusOf(path)).toBe('Voided');
    expect((await sandbox.api.get(path)).body['possible_next_actions']).toEqual([]);
    expect(await sandbox.control.ledger('voided')).toMatchObject([{}, { kind: 'void', amount: 6_000 }]);
  });

  test('a credit leaves its payment open, so that one sent twice shows as two', async () => {
    const { token } = await sandbox.control.tokenize(GOOD_CARD);
    const second = await sandbox.control.tokenize(GOOD_CARD);
    const path = `/payments/${(await sandbox.api.createPayment()).body.id}`;
    for (const one of [token, second.token]) {
      const credit = await post(`${path}/credits`, { payment_method: { type: 'tokenized', token: one } });
      expect([credit.status, credit.body.result, credit.body.currency]).toEqual([201, { status: 'Succeed' }, 'USD']);
    }
    expect(await statusOf(path)).toBe('Initialized');
    expect(JSON.parse((await sandbox.api.get(`${path}/credits`)).text)).toHaveLength(2);
  });

  test('a credit sent twice shows as two, also while the first one pends', async () => {
    const path = `/payments/${(await sandbox.api.createPayment()).body.id}`;
    const credit = async () => {
      const { token } = await sandbox.control.tokenize(PENDING_THEN_SUCCEED);
      return (await post(`${path}/credits`, { payment_method: { type: 'tokenized', token } })).status;
    };
    expect([await credit(), await credit()]).toEqual([201, 201]);
    expect(await sandbox.control.ledgerOf({ paymentId: path.slice('/payments/'.length) })).toMatchObject([
      { kind: 'credit', status: 'Pending' },
      { kind: 'credit', status: 'Pending' },
    ]);
  });

  test('related resources are grouped by kind, and expanded by name', async () => {
    const { path, authorization } = await authorized(sandbox);
    const capture = await post(`${path}/captures`);
    const plain = (await sandbox.api.get(path)).body['related_resources'];
    expect(plain).toEqual({
      authorizations: [{ href: `${sandbox.url}${path}/authorizations/${authorization.body.id}` }],
      captures: [{ href: `${sandbox.url}${path}/captures/${capture.body.id}` }],
    });
    const expanded = (await sandbox.api.get(`${path}?expand=captures`)).body['related_resources'];
    expect(expanded).toEqual({ ...(plain as object), captures: [capture.body] });
  });
});

interface Data {
  external_id: string;
}

describe('state rules', () => {
  const kinds = ['authorizations', 'charges', 'credits', 'captures', 'refunds', 'voids'] as const;
  const states: readonly (readonly [string, readonly string[], (typeof kinds)[number][]])[] = [
    ['Initialized', [], ['authorizations', 'charges', 'credits']],
    ['Authorized', ['authorizations'], ['captures', 'voids']],
    ['Captured', ['authorizations', 'captures'], ['captures', 'refunds']],
    ['Captured', ['charges'], ['refunds']],
    ['Refunded', ['authorizations', 'captures', 'refunds'], ['refunds']],
    ['Voided', ['authorizations', 'voids'], ['voids']],
  ];
  const bodyOf = async (kind: string): Promise<object> => {
    if (!['authorizations', 'charges', 'credits'].includes(kind)) return kind === 'voids' ? {} : { amount: 5_000 };
    return { payment_method: { type: 'tokenized', token: (await sandbox.control.tokenize(GOOD_CARD)).token } };
  };
  const payment = async (made: readonly string[]): Promise<string> => {
    const path = `/payments/${(await sandbox.api.createPayment({ amount: 6_000 })).body.id}`;
    for (const kind of made) await post(`${path}/${kind}`, await bodyOf(kind));
    return path;
  };

  test.each(states)('a payment that is %s after %j takes exactly %j', async (status, made, allowed) => {
    expect(await statusOf(await payment(made))).toBe(status);
    for (const kind of kinds) {
      const path = await payment(made);
      const answer = await post(`${path}/${kind}`, await bodyOf(kind));
      expect([kind, answer.status]).toEqual([kind, allowed.includes(kind) ? 201 : 409]);
      if (answer.status === 409) expect(answer.body).toEqual(CONFLICT);
    }
  });

  test('while a transaction pends, its payment takes no other', async () => {
    const { path } = await authorized(sandbox, { card: PENDING_THEN_SUCCEED });
    for (const kind of kinds) expect((await post(`${path}/${kind}`, await bodyOf(kind))).status).toBe(409);
  });

  test('a failed authorization leaves the payment open for another', async () => {
    const { path, authorization } = await authorized(sandbox, { card: FAILING_CARD });
    expect(authorization.body['provider_data']).not.toHaveProperty('authorization_code');
    expect(await statusOf(path)).toBe('Initialized');
    expect((await post(`${path}/authorizations`, await bodyOf('authorizations'))).body.result.status).toBe('Succeed');
  });

  test('a failed capture shows its authorization code and leaves the payment authorized', async () => {
    const { path } = await authorized(sandbox);
    const failed = await post(`${path}/captures`, { amount: 1_000 });
    expect(failed.body.result).toMatchObject({ status: 'Failed', category: 'provider_error' });
    expect(failed.body['provider_data']).toMatchObject({
      description: 'capture failed.',
      response_code: '102',
      authorization_code: expect.any(String),
    });
    expect(await statusOf(path)).toBe('Authorized');
  });

  test.each(['authorizations', 'captures', 'refunds', 'voids', 'credits'])(
    'an unknown one of %s is a 404 in the words of the service',
    async (kind) => {
      const { path } = await authorized(sandbox);
      const answer = await sandbox.api.get(`${path}/${kind}/${randomUUID()}`);
      expect([answer.status, answer.body.more_info]).toEqual([404, `${kind} resource does not exits`]);
    },
  );
});
