import { createHash } from 'node:crypto';
import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client, Connection } from '@temporalio/client';
import { announcingIdentity } from '../../src/client/ready-check.js';
import { PAYMENTS_TASK_QUEUE } from '../../src/contract/names.js';
import { claimNamespace, temporalAddress } from '../support/temporal.js';
import { signedText } from '../../src/webhook/signature.js';
import { documentedMetrics, servedMetrics } from '../support/documented-metrics.js';
import { chargeBody, EVENT_TYPE, headersFor } from './support.js';
import { until } from '../support/until.js';

const PROGRAM = fileURLToPath(new URL('../../dist/workers/webhook.js', import.meta.url));
const SANDBOX_KEY = 'sandbox-private-key';

/** The way to Temporal, which can be cut and mended without harm to the server that other tests use. */
class Link {
  readonly #sockets = new Set<Socket>();
  #server: Server | undefined;
  port = 0;

  async open(): Promise<void> {
    const [host, port] = (await temporalAddress()).split(':');
    this.#server = createServer((near) => {
      const far = connect(Number(port), host);
      for (const [from, to] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(from);
        from.on('error', () => to.destroy()).on('close', () => to.destroy());
        from.pipe(to);
      }
    });
    this.#server.listen(this.port, '127.0.0.1');
    await once(this.#server, 'listening');
    this.port = (this.#server.address() as AddressInfo).port;
  }

  cut(): void {
    this.#server?.close();
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }
}

const link = new Link();
let child: ChildProcessByStdio<null, Readable, Readable>;
const stateDir = mkdtempSync(join(tmpdir(), 'holdfast-webhook-'));
let url = '';
let log = '';
let client: Client;
let namespace: string;

beforeAll(async () => {
  namespace = await claimNamespace();
  client = new Client({ connection: await Connection.connect({ address: await temporalAddress() }), namespace });
  // Takes a port that is then closed: the handler starts while Temporal is away.
  await link.open();
  link.cut();
  const env = {
    PATH: process.env['PATH'],
    HOLDFAST_EMBEDDED: '1',
    HOLDFAST_STATE_DIR: stateDir,
    HOLDFAST_WEBHOOK_PORT: '0',
    HOLDFAST_WEBHOOK_METRICS_PORT: '0',
    TEMPORAL_ADDRESS: `127.0.0.1:${link.port}`,
    TEMPORAL_NAMESPACE: namespace,
  };
  child = spawn(process.execPath, [PROGRAM], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  child.stderr.on('data', (data: Buffer) => (log += data.toString()));
  const [line] = (await Promise.race([
    once(child.stdout, 'data'),
    once(child, 'exit').then(() => Promise.reject(new Error(`ended before it was ready: ${log}`))),
  ])) as [Buffer];
  url = /^ready webhook (http:\/\/127\.0\.0\.1:\d+)\n$/.exec(line.toString())?.[1] ?? '';
});
afterAll(async () => {
  child.kill('SIGKILL');
  link.cut();
  await client.connection.close();
  rmSync(stateDir, { recursive: true, force: true });
});

function eventOf(reference: string) {
  const body = chargeBody();
  return { ...body, app_id: 'holdfast-sandbox', data: { ...body.data, reconciliation_id: reference } };
}

async function post(body: unknown, signedBody = body): Promise<number> {
  const headers = headersFor(signedBody, SANDBOX_KEY);
  const response = await fetch(`${url}/webhooks`, { method: 'POST', body: JSON.stringify(body), headers });
  await response.arrayBuffer();
  return response.status;
}

const status = async (path: string) => (await fetch(url + path)).status;

async function untilReady(): Promise<void> {
  await until(
    () => status('/ready'),
    (answer) => answer === 200,
  );
}

async function openFlow(reference: string) {
  return client.workflow.start('waits', { workflowId: `payment-${reference}`, taskQueue: 'nobody', args: [] });
}

async function signalsOf(handle: Awaited<ReturnType<typeof openFlow>>) {
  const { events } = await handle.fetchHistory();
  return (events ?? []).flatMap((event) => event.workflowExecutionSignaledEventAttributes ?? []);
}

describe('the webhook process', () => {
  test('starts and answers 503 while Temporal is away, and 401 to a forger all the same', async () => {
    const forged = { ...eventOf('order-1'), id: 'forged' };
    const answers = [status('/health'), status('/ready'), post(eventOf('order-1')), post(forged, eventOf('order-1'))];
    expect(await Promise.all(answers)).toEqual([200, 503, 503, 401]);
  });

  test('delivers once Temporal is there, encrypted, and a repeat arrives once', async () => {
    await link.open();
    await untilReady();
    const flow = await openFlow('order-1');
    expect([await post(eventOf('order-1')), await post(eventOf('order-1'))]).toEqual([200, 200]);
    const signals = await signalsOf(flow);
    expect(signals).toHaveLength(1);
    const [payload] = signals[0]?.input?.payloads ?? [];
    expect(payload?.data?.length).toBeGreaterThan(0);
    expect(Buffer.from(payload?.data ?? []).toString('latin1')).not.toContain('order-1');
  });

  test('parks an event whose flow is not known or has ended without a word, and 200 only once it is kept', async () => {
    await (await openFlow('order-ended')).terminate();
    for (const reference of ['order-unknown', 'order-ended']) {
      const body = eventOf(reference);
      expect(await post(body)).toBe(200);
      const hash = createHash('sha256').update(signedText(EVENT_TYPE, body)).digest('hex');
      // Raw: its memo is encrypted, and this client has no key.
      const { workflowExecutionInfo: kept } = await client.workflowService.describeWorkflowExecution({
        namespace,
        execution: { workflowId: `parked-event-${hash}` },
      });
      expect(kept?.type?.name).toBe('parkedEvent');
    }
  });

  test('recovers without a restart when Temporal was lost on the way', async () => {
    const flow = await openFlow('order-2');
    link.cut();
    expect(await post(eventOf('order-2'))).toBe(503);
    await link.open();
    await untilReady();
    expect(await post(eventOf('order-2'))).toBe(200);
    expect(await signalsOf(flow)).toHaveLength(1);
  });

  test('serves its metrics on a port of its own, and logs no secret', async () => {
    const metricsUrl = /"url":"([^"]+\/metrics)"/.exec(log)?.[1] ?? '';
    const text = await (await fetch(metricsUrl)).text();
    expect(text).toMatch(
      /holdfast_webhook_events_total\{type="payment.charge.update",version="1.3.0",result="parked",environment="test"\} 2/,
    );
    const told = documentedMetrics().filter(({ process }) => process === 'webhook');
    const served = servedMetrics(text);
    expect(served.map(({ name }) => name).toSorted()).toEqual(told.map(({ name }) => name).toSorted());
    const unknown = served.filter(({ name, labels }) => {
      const known = [...(told.find((metric) => metric.name === name)?.labels ?? []), 'environment'];
      return labels.some((label) => !known.includes(label));
    });
    expect(unknown).toEqual([]);
    expect(log).toContain('order-2');
    expect(log).not.toContain(SANDBOX_KEY);
    expect(log).not.toContain('omitted');
  });

  test('is not ready while a live worker has not announced its first key, and names key and worker', async () => {
    const poll = { namespace, taskQueue: { name: PAYMENTS_TASK_QUEUE }, identity: announcingIdentity('1@old', ['k0']) };
    // Again and again, as a worker does: a poll that meets a parked event in its own partition is not told to the one that
    // is asked who polls.
    const pollOn = async (): Promise<never> => {
      // The server takes no poll that is shorter; the last one ends with the client's connection.
      const ask = () => client.workflowService.pollWorkflowTaskQueue(poll);
      for (;;) await client.connection.withDeadline(Date.now() + 60_000, ask);
    };
    pollOn().catch(() => undefined);
    await until(
      () => status('/ready'),
      (answer) => answer === 503,
    );
    const { status: why } = (await (await fetch(`${url}/ready`)).json()) as { status: string };
    expect(why).toMatch(/^key "embedded-1"[^]* not announced by worker 1@old: /);
    expect(log).toContain('"keyId":"embedded-1","reason":"key');
  });

  test('stops in good order', async () => {
    child.kill('SIGTERM');
    expect(await once(child, 'exit')).toEqual([0, null]);
  });
});
