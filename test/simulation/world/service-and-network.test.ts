import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type ConnectionLike } from '@temporalio/client';
import { request } from 'undici';
import { describe, expect, test } from 'vitest';
import type { ProviderClient } from '../../../src/provider/index.js';
import { KEY_LIFE_MS } from '../../../sandbox/idempotency.js';
import { CARDS } from '../../support/charges.js';
import { RequestLog } from '../../support/request-log.js';
import { closeWorlds, openWorld } from './opened.js';
import type { Fate, NetworkStrategy } from './strategies.js';
import { SANDBOX_URL, type World } from './world.js';

const HOUR = 3_600_000;

closeWorlds();

/** Meets the charge of a flow with `fate`, and nothing else. */
function onCharges(fate: Fate, times = 1): () => NetworkStrategy {
  let left = times;
  return () => (sent) => {
    const hit = sent.method === 'POST' && sent.path.endsWith('/charges') && left > 0;
    if (hit) left -= 1;
    return { fate: hit ? fate : 'deliver', requestDelayMs: 2, replyDelayMs: 2 };
  };
}

async function paymentOf({ control }: World, client: ProviderClient, card: string = CARDS.succeeds) {
  const { data } = await client.createPayment({ amount: 1095, currency: 'USD' }, { idempotencyKey: randomUUID() });
  const charge = async (idempotencyKey: string) => {
    // A token of its own for each: one lives for less than a key.
    const { token } = await control.tokenize(card);
    const paymentMethod = { type: 'tokenized', token } as const;
    return await client.createCharge(data.id, { paymentMethod, reconciliationId: 'order-1' }, { idempotencyKey });
  };
  return { id: data.id, charge };
}

const moved = async ({ control }: World): Promise<string[]> =>
  (await control.ledger()).map(({ kind, status, amount, currency }) => `${kind} ${status} ${amount} ${currency}`);

describe('the payment service in the same process', () => {
  test('answers a repeated charge by its key for 24 h of virtual time: the ledger has it once, then twice', async () => {
    const opened = await openWorld();
    opened.time.run();
    const { charge } = await paymentOf(opened, opened.providerFor(), CARDS.declines);
    const first = await charge('key-1');
    expect(first.data.status).toBe('Failed');
    await sleep(KEY_LIFE_MS - 1_000);
    expect((await charge('key-1')).data.id).toBe(first.data.id);
    expect(await moved(opened)).toEqual(['charge Failed 1095 USD']);
    await sleep(1_000);
    expect((await charge('key-1')).data.id).not.toBe(first.data.id);
    expect(await moved(opened)).toEqual(['charge Failed 1095 USD', 'charge Failed 1095 USD']);
  });

  test('keeps what it answered when it is killed, and cuts off what was under way', async () => {
    const opened = await openWorld();
    opened.time.run();
    const { charge } = await paymentOf(opened, opened.providerFor());
    await charge('key-1');
    await opened.control.addFault({ action: 'delay', delay_ms: 10_000, path: '*/charges', times: 1 });
    const cut = expect(charge('key-2')).rejects.toMatchObject({ kind: 'lost', mayHaveLeft: true });
    await sleep(1_000);
    await opened.sandbox.restart();
    await cut;
    expect(await moved(opened)).toEqual(['charge Succeed 1095 USD']);
    expect((await charge('key-1')).data.status).toBe('Succeed');
  });

  test('is reached by fetch and by undici as well, and an unknown address refuses', async () => {
    const { time } = await openWorld();
    time.run();
    const health = await fetch(`${SANDBOX_URL}/sandbox/health`, { method: 'GET' });
    expect(await health.json()).toMatchObject({ payments: 0 });
    const posted = await fetch(`${SANDBOX_URL}/sandbox/settings`, { method: 'POST', body: '{"pending_ms":7}' });
    expect(posted.status).toBe(200);
    const { statusCode, headers } = await request(`${SANDBOX_URL}/payments`, { method: 'POST', body: 'no json' });
    expect([statusCode, headers['content-type']]).toEqual([400, 'application/json; charset=utf-8']);
    await expect(request('http://nobody.test/')).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  });
});

describe('the network', () => {
  test('a lost reply is a charge that was acted upon: the sender does not know, the ledger has it', async () => {
    const opened = await openWorld({ strategy: onCharges('dropReply') });
    opened.time.run();
    const { charge } = await paymentOf(opened, opened.providerFor());
    await expect(charge('key-1')).rejects.toMatchObject({ kind: 'lost', mayHaveLeft: true });
    expect(await moved(opened)).toEqual(['charge Succeed 1095 USD']);
  });

  test('a lost request moved nothing, and a refused connection is a proof of that', async () => {
    const opened = await openWorld({ strategy: onCharges('loseRequest') });
    opened.time.run();
    const { charge } = await paymentOf(opened, opened.providerFor());
    await expect(charge('key-1')).rejects.toMatchObject({ kind: 'lost', mayHaveLeft: true });
    opened.sandbox.serve('refusing');
    await expect(charge('key-1')).rejects.toMatchObject({ kind: 'refused', mayHaveLeft: false });
    opened.sandbox.serve(502);
    await expect(charge('key-1')).rejects.toMatchObject({ httpStatus: 502, mayHaveLeft: true });
    expect(await moved(opened)).toEqual([]);
    opened.sandbox.serve('up');
    await charge('key-1');
    expect(await moved(opened)).toEqual(['charge Succeed 1095 USD']);
  });

  test('a duplicate arrives twice, and the key keeps it one movement', async () => {
    const opened = await openWorld({ strategy: onCharges('duplicate') });
    opened.time.run();
    const { charge } = await paymentOf(opened, opened.providerFor());
    expect((await charge('key-1')).data.status).toBe('Succeed');
    await sleep(10);
    const [sent] = opened.network.passed.filter(({ key }) => key === 'key-1');
    expect(sent).toMatchObject({ from: 'external', fate: 'duplicate', outcome: 201 });
    expect(sent?.arrivedAt).toHaveLength(2);
    expect(await moved(opened)).toEqual(['charge Succeed 1095 USD']);
  });

  test('a sender that gives up or is killed does not call back what is on its way', async () => {
    const opened = await openWorld({
      strategy: () => () => ({ fate: 'deliver', requestDelayMs: 1_000, replyDelayMs: 1_000 }),
    });
    opened.time.run();
    const { control } = opened;
    const log = new RequestLog(() => Date.now());
    const worker = opened.connect('worker');
    const client = opened.providers(log.noting(worker)).get('default');
    if (client === undefined) throw new Error('the plain unit is missing');
    const body = { amount: 1095, currency: 'USD' };
    await expect(client.createPayment(body, { idempotencyKey: 'late', timeoutMs: 10 })).rejects.toMatchObject({
      kind: 'timeout',
    });
    let received = false;
    void client
      .createPayment(body, { idempotencyKey: 'killed', timeoutMs: 100_000 })
      .finally(() => (received = true))
      .catch(() => {});
    worker.kill();
    await sleep(50_000);
    expect(received).toBe(false);
    expect((await control.health()).payments).toBe(2);
    expect(opened.network.passed.map(({ from, key }) => `${from} ${key}`)).toEqual(['worker late', 'worker killed']);
  });

  test('an event that is delayed comes when it is due, and one that is refused comes again', async () => {
    const opened = await openWorld({ webhooks: true });
    const { time, network, control } = opened;
    time.run();
    const arrived: number[] = [];
    await control.addFault({ action: 'delay_event', delay_ms: 3_000, path: 'payment.payment.create', times: 1 });
    const host = network.attach('http://webhook.test', () => {
      arrived.push(Date.now());
      return Promise.resolve({ status: 200, headers: {}, body: Buffer.alloc(0) });
    });
    const { id } = await paymentOf(opened, opened.providerFor());
    const [event] = await control.deliveries({ paymentId: id });
    expect(event?.event_type).toBe('payment.payment.create');
    await sleep(3_000 + 200 + 10);
    expect(arrived).toHaveLength(1);
    expect((arrived[0] ?? 0) - Number(event?.created)).toBeGreaterThanOrEqual(3_200);
    host.state = 503;
    await control.resend(event?.id ?? '');
    await sleep(100);
    host.state = 'up';
    await sleep(HOUR);
    expect(arrived).toHaveLength(2);
    expect(await control.deliveries({ paymentId: id })).toMatchObject([{ status: 'delivered', last_status: 200 }]);
  });
});

describe('the webhook handler', () => {
  /** An engine that takes signals, as far as the handler calls it. */
  function signalsOnly(signals: string[]): Client {
    const connection = {
      workflowService: {
        signalWorkflowExecution({ workflowExecution }: { workflowExecution: { workflowId: string } }) {
          signals.push(workflowExecution.workflowId);
          return Promise.resolve({});
        },
      },
      withDeadline: <T>(_deadline: number, call: () => Promise<T>) => call(),
      ensureConnected: () => Promise.resolve(),
    };
    return new Client({ connection: connection as unknown as ConnectionLike });
  }

  test('gives the signed events of a charge to the engine, after an outage as well', async () => {
    const opened = await openWorld({ webhooks: true });
    const { time, network } = opened;
    time.run();
    const signals: string[] = [];
    const webhooks = await opened.connectWebhooks(signalsOnly(signals));
    webhooks.deliver('refusing');
    const { charge } = await paymentOf(opened, opened.providerFor());
    await charge('key-1');
    await sleep(10_000);
    expect(signals).toEqual([]);
    webhooks.deliver(503);
    await sleep(10_000);
    webhooks.deliver('up');
    await sleep(HOUR);
    expect(new Set(signals)).toEqual(new Set(['payment-order-1']));
    expect(webhooks.logged).toEqual([]);
    const outcomes = new Set(network.passed.filter(({ from }) => from === 'service').map(({ outcome }) => outcome));
    expect(outcomes).toEqual(new Set(['ECONNREFUSED', 503, 200]));
  });
});
