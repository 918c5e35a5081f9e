import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authorized, startTestSandbox, type TestSandbox, type Wire } from './support/sandbox.js';

const DAY_MS = 86_400_000;

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

const statusOf = async (path: string) => (await sandbox.api.get(path)).body.status;
const post = (path: string, body?: object, key: string = randomUUID()) =>
  sandbox.api.call('POST', path, body, { 'idempotency-key': key });

describe('mock amount triggers', () => {
  const amounts: readonly (readonly [number, string, string])[] = [
    [1, 'Failed', 'Failed'],
    [1_999, 'Failed', 'Failed'],
    [2_000, 'Pending', 'Succeed'],
    [2_999, 'Pending', 'Succeed'],
    [3_000, 'Pending', 'Failed'],
    [3_999, 'Pending', 'Failed'],
    [4_000, 'Succeed', 'Succeed'],
    [5_000, 'Succeed', 'Succeed'],
  ];
  const end = async (made: Wire, path: string) => {
    await sandbox.control.advanceClock(10_000);
    return (await sandbox.api.get(`${path}/${made.body.id}`)).body.result.status;
  };

  test.each(amounts)('a capture of %i answers %s and ends as %s', async (amount, first, last) => {
    const { path } = await authorized(sandbox, { amount: 9_000 });
    const capture = await post(`${path}/captures`, { amount });
    expect([capture.body.result.status, await end(capture, `${path}/captures`)]).toEqual([first, last]);
  });

  test.each(amounts)('a refund of %i answers %s and ends as %s', async (amount, first, last) => {
    const { path } = await authorized(sandbox, { amount: 9_000 });
    await post(`${path}/captures`);
    const refund = await post(`${path}/refunds`, { amount });
    expect([refund.body.result.status, await end(refund, `${path}/refunds`)]).toEqual([first, last]);
    expect(await statusOf(path)).toBe(last === 'Succeed' ? 'Refunded' : 'Captured');
  });

  test('a void follows the payment amount; from 40 to 50 it pends for a day', async () => {
    const { path } = await authorized(sandbox, { amount: 4_500 });
    const voided = await post(`${path}/voids`);
    expect(voided.body.result.status).toBe('Pending');
    expect(await end(voided, `${path}/voids`)).toBe('Pending');
    await sandbox.control.advanceClock(DAY_MS);
    expect(await statusOf(path)).toBe('Voided');
    const failing = await authorized(sandbox, { amount: 1_000 });
    const failed = await post(`${failing.path}/voids`);
    expect(failed.body['provider_data']).toMatchObject({ description: 'void failed.' });
    expect(await statusOf(failing.path)).toBe('Authorized');
  });
});

describe('amounts', () => {
  test('sums are not checked, as with the mock provider', async () => {
    const { path } = await authorized(sandbox, { amount: 5_000 });
    for (const kind of ['captures', 'captures', 'refunds', 'refunds']) {
      const capture_id = kind === 'refunds' ? await lastCapture(path) : undefined;
      const made = await post(`${path}/${kind}`, { amount: 4_500, capture_id });
      expect([made.status, made.body.result.status]).toEqual([201, 'Succeed']);
    }
  });

  const lastCapture = async (path: string) => {
    const captures = JSON.parse((await sandbox.api.get(`${path}/captures`)).text) as { id: string }[];
    return captures.at(-1)?.id;
  };

  test('what only the first one may leave out is asked for by name', async () => {
    const { path } = await authorized(sandbox, { amount: 5_000 });
    await post(`${path}/captures`, { amount: 4_500 });
    const moreInfo = async (kind: string, body: object) => {
      const answer = await post(`${path}/${kind}`, body);
      return [answer.status, answer.body.more_info];
    };
    expect(await moreInfo('captures', {})).toEqual([400, 'amount: is needed from the second capture on']);
    await post(`${path}/captures`, { amount: 4_600 });
    const needed = 'capture_id: is needed when there are several captures';
    expect(await moreInfo('refunds', { amount: 4_100 })).toEqual([400, needed]);
    const unknown = 'capture_id: names no successful capture of this payment';
    expect(await moreInfo('refunds', { capture_id: randomUUID() })).toEqual([400, unknown]);
    const refund = await post(`${path}/refunds`, { capture_id: await lastCapture(path) });
    expect(refund.body.amount).toBe(4_600);
    const again = { capture_id: await lastCapture(path) };
    expect(await moreInfo('refunds', again)).toEqual([400, 'amount: is needed from the second refund on']);
    for (const amount of [0, -1, 1.5, '1']) {
      expect(await moreInfo('captures', { amount })).toEqual([400, expect.stringContaining('amount:')]);
    }
  });

  test('the same key answers captures, refunds and voids with the first answer, whatever the amount', async () => {
    const { path } = await authorized(sandbox);
    const first = await post(`${path}/captures`, { amount: 4_100 }, 'same');
    expect((await post(`${path}/captures`, { amount: 4_900 }, 'same')).text).toBe(first.text);
    expect(JSON.parse((await sandbox.api.get(`${path}/captures`)).text)).toHaveLength(1);
    const refund = await post(`${path}/refunds`, { amount: 4_000 }, 'same');
    expect((await post(`${path}/refunds`, {}, 'same')).text).toBe(refund.text);
  });
});
