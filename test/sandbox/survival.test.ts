import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { SandboxControl } from '../../sandbox/control.js';
import { runUntilExit, startSandboxProcess, type SandboxProcess } from './support/process.js';
import { startReceiver } from './support/receiver.js';
import { Api, authorized, GOOD_CARD, PENDING_THEN_SUCCEED, until } from './support/sandbox.js';

let stateDir: string;
let running: SandboxProcess[];
beforeEach(() => {
  stateDir = mkdtempSync(join(tmpdir(), 'sandbox-survival-'));
  running = [];
});
afterEach(async () => {
  for (const sandbox of running) if (sandbox.process.exitCode === null) await sandbox.end('SIGKILL');
  rmSync(stateDir, { recursive: true, force: true });
});

async function start(
  env: Record<string, string> = {},
): Promise<SandboxProcess & { api: Api; control: SandboxControl }> {
  const sandbox = await startSandboxProcess({ HOLDFAST_STATE_DIR: stateDir, ...env });
  running.push(sandbox);
  return { ...sandbox, api: new Api(sandbox.url), control: new SandboxControl(sandbox.url) };
}

describe('a sandbox killed with SIGKILL', () => {
  test('still has every charge it answered, once, and its keys', async () => {
    const first = await start();
    const requests = await Promise.all(
      Array.from({ length: 60 }, async (_, index) => {
        const { token } = await first.control.tokenize(GOOD_CARD);
        return { payment: (await first.api.createPayment()).body.id, token, key: `kill-${index}` };
      }),
    );
    let answered = 0;
    const answers = await Promise.allSettled(
      requests.map(async ({ payment, token, key }, index) => {
        const charge = await first.api.charge(payment, token, { reconciliation_id: key }, key);
        if (++answered === 20) await first.end('SIGKILL');
        return { index, charge };
      }),
    );
    const kept = answers.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []));
    expect(kept.length).toBeGreaterThanOrEqual(20);

    const second = await start();
    for (const { index, charge } of kept) {
      const { payment } = requests[index] ?? { payment: '' };
      const read = await second.api.get(`/payments/${payment}/charges/${charge.body.id}`);
      expect([read.status, read.body.result]).toEqual([200, charge.body.result]);
    }
    // Whatever had no answer is asked again under its key: one movement each, made before the kill or now.
    const again = await Promise.all(
      requests.map(({ payment, token, key }) => second.api.charge(payment, token, { reconciliation_id: key }, key)),
    );
    expect(again.map((answer) => answer.status)).toEqual(requests.map(() => 201));
    for (const { index, charge } of kept) expect(again[index]?.text).toBe(charge.text);
    const ledger = await second.control.ledger();
    expect(ledger).toHaveLength(requests.length);
    expect(new Set(ledger.map((entry) => entry.reconciliation_id)).size).toBe(requests.length);
  });

  test('still has holds, captures, refunds, stored cards and reviews, as it had answered them', async () => {
    const first = await start();
    const { path } = await authorized(first);
    const [capture, refund] = [
      await first.api.post(`${path}/captures`, { amount: 5_000 }),
      await first.api.post(`${path}/refunds`, { amount: 4_000 }),
    ];
    const held = await authorized(first, { billing_address: { email: 'manual-review-hub@email.com' } });
    const review = await first.api.post(`${held.path}/risk-analyses`, {});
    const { token } = await first.control.tokenize(GOOD_CARD);
    const customer = await first.api.post('/customers', { customer_reference: 'survivor' });
    await first.api.call('POST', `/customers/${customer.body.id}/payment-methods/${token}`);
    const before = await first.api.get(`${path}?expand=all`);
    await first.end('SIGKILL');

    const second = await start({ HOLDFAST_SANDBOX_PORT: new URL(first.url).port });
    expect((await second.api.get(`${path}?expand=all`)).body).toEqual(before.body);
    expect((await second.api.get(`${path}/captures/${capture.body.id}`)).body).toEqual(capture.body);
    expect((await second.api.get(`${path}/refunds/${refund.body.id}`)).body).toEqual(refund.body);
    expect((await second.api.get('/customers?customer_reference=survivor')).text).toContain(token);
    expect(await second.control.decideRisk(review.body.id, 'approve')).toMatchObject({ decision: 'approve' });
    await second.control.advanceClock(7 * 86_400_000);
    expect((await second.api.get(held.path)).body.status).toBe('Voided');
  });

  test('goes on waiting for what pends, keeps its clock, and sends what was not acknowledged', async () => {
    const receiver = await startReceiver();
    const env = { HOLDFAST_SANDBOX_WEBHOOK_URL: receiver.url, HOLDFAST_SANDBOX_PENDING_MS: '600000' };
    const first = await start(env);
    await first.control.advanceClock(3_600_000);
    receiver.answerNext(...Array<number>(1_000).fill(500));
    const { token } = await first.control.tokenize(PENDING_THEN_SUCCEED);
    const payment = await first.api.createPayment();
    const charge = await first.api.charge(payment.body.id, token);
    const refused = await receiver.event('payment.charge.create');
    await first.end('SIGKILL');
    await receiver.close();

    const back = await startReceiver();
    const second = await start({ ...env, HOLDFAST_SANDBOX_WEBHOOK_URL: back.url });
    expect((await second.control.health()).clock_offset_ms).toBe(3_600_000);
    expect(await second.control.webhookEndpoints()).toMatchObject([{ url: back.url, version: '1.3.0', events: ['*'] }]);
    const waiting = await second.control.deliveries({ eventType: 'payment.charge.create' });
    expect(waiting).toMatchObject([{ status: 'pending', event_id: refused.body.id, url: receiver.url }]);
    const path = `/payments/${payment.body.id}/charges/${charge.body.id}`;
    expect((await second.api.get(path)).body.result.status).toBe('Pending');
    await second.control.advanceClock(600_000);
    expect((await second.api.get(path)).body.result.status).toBe('Succeed');
    const settled = await back.event('payment.charge.update');
    expect(settled.body.data.id).toBe(charge.body.id);
    await until(async () => {
      const [delivery] = await second.control.deliveries({ eventType: 'payment.charge.create' });
      return (delivery?.attempts ?? 0) > (waiting[0]?.attempts ?? 0) ? delivery : undefined;
    });
    await back.close();
  });
});

describe('a sandbox process', () => {
  test('prints one ready line and ends with 0 on SIGTERM and SIGINT', async () => {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      const sandbox = await start();
      expect(await sandbox.control.health()).toMatchObject({ status: 'ok', pending_ms: 10_000 });
      expect(await sandbox.end(signal)).toBe(0);
    }
  });

  test('restarted with the same webhook address has one endpoint for it', async () => {
    const env = { HOLDFAST_SANDBOX_WEBHOOK_URL: 'http://127.0.0.1:9/webhooks' };
    const first = await start(env);
    expect(await first.end('SIGTERM')).toBe(0);
    const second = await start(env);
    expect(await second.control.webhookEndpoints()).toHaveLength(1);
  });

  test('refuses state that another sandbox has open, in one sentence', async () => {
    await start();
    const refused = await runUntilExit({ HOLDFAST_STATE_DIR: stateDir });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toMatch(/^The sandbox can't use .*another sandbox is using it.*HOLDFAST_STATE_DIR\.\n$/);
  });

  test('a taken port is one sentence that names the setting', async () => {
    const first = await start();
    const { port } = new URL(first.url);
    const refused = await runUntilExit({ HOLDFAST_STATE_DIR: join(stateDir, 'other'), HOLDFAST_SANDBOX_PORT: port });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toBe(
      `Port ${port} is taken: stop what listens there, or move the sandbox with HOLDFAST_SANDBOX_PORT.\n`,
    );
  });

  test('lists every faulty setting before it starts', async () => {
    const refused = await runUntilExit({
      HOLDFAST_STATE_DIR: stateDir,
      HOLDFAST_SANDBOX_PORT: '70000',
      HOLDFAST_LOG_LEVEL: 'loud',
      HOLDFAST_SANDBOX_WEBHOOK_URL: 'nowhere',
      HOLDFAST_SANDBOX_PENDING_MS: '-1',
    });
    expect(refused.code).toBe(1);
    const names = refused.stderr
      .trim()
      .split('\n')
      .map((line) => line.split('=')[0]);
    expect(names.sort()).toEqual([
      'HOLDFAST_LOG_LEVEL',
      'HOLDFAST_SANDBOX_PENDING_MS',
      'HOLDFAST_SANDBOX_PORT',
      'HOLDFAST_SANDBOX_WEBHOOK_URL',
    ]);
  });
});
