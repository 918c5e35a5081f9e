import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  authorized,
  PENDING_THEN_FAILED,
  PENDING_THEN_SUCCEED,
  startTestSandbox,
  type TestSandbox,
} from './support/sandbox.js';

const DAY_MS = 86_400_000;

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

const statusOf = async (path: string) => (await sandbox.api.get(path)).body.status;
const post = (path: string, body?: object) => sandbox.api.call('POST', path, body, { 'idempotency-key': randomUUID() });

describe('holds', () => {
  test('a hold ends by the sandbox clock, across a restart: the payment is voided without a void', async () => {
    const { path } = await authorized(sandbox, {}, { reconciliation_id: 'hold' });
    await sandbox.control.advanceClock(7 * DAY_MS - 60_000);
    expect(await statusOf(path)).toBe('Authorized');
    await sandbox.restart();
    await sandbox.control.advanceClock(120_000);
    expect(await statusOf(path)).toBe('Voided');
    expect((await sandbox.api.get(`${path}/voids`)).text).toBe('[]');
    expect((await post(`${path}/captures`)).status).toBe(409);
    expect(await sandbox.control.ledger('hold')).toMatchObject([{ kind: 'authorization', status: 'Succeed' }]);
  });

  test('a captured payment keeps its money, and a hold that ended during a failing void ends with it', async () => {
    const captured = await authorized(sandbox);
    await post(`${captured.path}/captures`);
    const voiding = await authorized(sandbox, { amount: 3_500 });
    await sandbox.control.settings({ pendingMs: 7 * DAY_MS });
    await post(`${voiding.path}/voids`);
    await sandbox.control.advanceClock(7 * DAY_MS + 1_000);
    await sandbox.control.settings({ pendingMs: 10_000 });
    expect([await statusOf(captured.path), await statusOf(voiding.path)]).toEqual(['Captured', 'Voided']);
  });

  test('the setting changes how long later holds last', async () => {
    await sandbox.control.settings({ holdMs: 60_000 });
    const { path } = await authorized(sandbox);
    await sandbox.control.settings({ holdMs: 7 * DAY_MS });
    await sandbox.control.advanceClock(60_000);
    expect(await statusOf(path)).toBe('Voided');
  });

  test('an authorization that pends holds from its success on', async () => {
    const failed = await authorized(sandbox, { card: PENDING_THEN_FAILED });
    const good = await authorized(sandbox, { card: PENDING_THEN_SUCCEED });
    await sandbox.control.advanceClock(10_000);
    expect([await statusOf(failed.path), await statusOf(good.path)]).toEqual(['Initialized', 'Authorized']);
    await sandbox.control.advanceClock(7 * DAY_MS);
    expect(await statusOf(good.path)).toBe('Voided');
  });

  test('lasts from its success on, and not from the end of a jump of the clock', async () => {
    const { path } = await authorized(sandbox, { card: PENDING_THEN_SUCCEED });
    await sandbox.control.advanceClock(8 * DAY_MS);
    expect(await statusOf(path)).toBe('Voided');
  });
});
