import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Client, Connection, ServiceError } from '@temporalio/client';
import { defaultPayloadConverter, type Payload, type PayloadCodec } from '@temporalio/common';
import { resultBefore } from '../../src/client/end-of-flow.js';
import { createEventSink } from '../../src/client/event-sink.js';
import type { TransactionEvent } from '../../src/contract/messages.js';
import { SEALED_METADATA } from '../../src/contract/payload-marks.js';
import { converterPaths } from '../../src/security/data-converter.js';
import { claimNamespace, temporalAddress } from '../support/temporal.js';

/** Stands in for encryption: what it wraps is not readable, and it notes for which flow it was asked to. */
class WrappingCodec implements PayloadCodec {
  readonly contexts: unknown[] = [];
  encode(payloads: Payload[], context?: unknown): Promise<Payload[]> {
    this.contexts.push(context);
    return Promise.resolve(payloads.map((payload) => ({ ...payload, data: invert(payload.data ?? new Uint8Array()) })));
  }
  decode(payloads: Payload[]): Promise<Payload[]> {
    return Promise.resolve(
      payloads.map(({ metadata, data }) => {
        const sealed = { ...metadata, [SEALED_METADATA]: new Uint8Array([1]) };
        return { metadata: sealed, data: invert(data ?? new Uint8Array()) };
      }),
    );
  }
}

const invert = (data: Uint8Array) => data.map((byte) => byte ^ 0xff);

const codec = new WrappingCodec();
let namespace: string;
let connection: Connection;
let client: Client;
let sequence = 0;

beforeAll(async () => {
  namespace = await claimNamespace();
  connection = await Connection.connect({ address: await temporalAddress() });
  client = clientOf(connection, namespace);
});
afterAll(() => connection.close());

function clientOf(over: Connection, inNamespace: string): Client {
  return new Client({
    connection: over,
    namespace: inNamespace,
    dataConverter: { ...converterPaths(), payloadCodecs: [codec] },
  });
}

function eventOf(hash: string): TransactionEvent {
  return {
    hash,
    eventType: 'payment.charge.update',
    created: '2026-11-06T14:33:46.150Z',
    businessUnit: 'default',
    paymentId: 'marker-payment',
    status: 'Succeed',
    reconciliationId: 'order-1',
    trusted: true,
  };
}

/** A flow that nobody works on: it stays open and keeps what it is sent. */
async function openFlow(): Promise<string> {
  sequence += 1;
  const workflowId = `payment-sink-${sequence}`;
  await client.workflow.start('waits', { workflowId, taskQueue: workflowId, args: [] });
  return workflowId;
}

async function signalsOf(workflowId: string) {
  const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap((event) => event.workflowExecutionSignaledEventAttributes ?? []);
}

describe('delivering an event', () => {
  test('puts it into its flow as signal transactionEvent, readable with the codecs alone', async () => {
    const workflowId = await openFlow();
    expect(await createEventSink(client).deliver(workflowId, eventOf('hash-1'))).toBe('delivered');
    const [signal] = await signalsOf(workflowId);
    expect(signal?.signalName).toBe('transactionEvent');
    const [payload] = signal?.input?.payloads ?? [];
    expect(Buffer.from(payload?.data ?? []).toString()).not.toContain('marker-payment');
    const [decoded] = await codec.decode(payload ? [payload] : []);
    expect(JSON.parse(Buffer.from(decoded?.data ?? []).toString())).toEqual(eventOf('hash-1'));
    expect(codec.contexts.at(-1)).toEqual({ type: 'workflow', namespace, workflowId });
  });

  test('again and again, one after the other and all at once, leaves it there once', async () => {
    const workflowId = await openFlow();
    const one = createEventSink(client);
    const other = createEventSink(clientOf(connection, namespace));
    for (const sink of [one, other]) expect(await sink.deliver(workflowId, eventOf('repeated'))).toBe('delivered');
    const many = Array.from({ length: 10 }, (_, index) =>
      (index % 2 === 0 ? one : other).deliver(workflowId, eventOf('at-once')),
    );
    expect(await Promise.all(many)).toEqual(many.map(() => 'delivered'));
    expect(await one.deliver(workflowId, eventOf('repeated'))).toBe('delivered');
    expect(await signalsOf(workflowId)).toHaveLength(2);
  });

  test('to a flow that has closed says so', async () => {
    const workflowId = await openFlow();
    await client.workflow.getHandle(workflowId).terminate();
    expect(await createEventSink(client).deliver(workflowId, eventOf('late'))).toBe('ended');
  });

  test('to a flow that never was says so', async () => {
    expect(await createEventSink(client).deliver('payment-never-started', eventOf('early'))).toBe('notFound');
  });

  test('to a namespace that never was is an error, not a flow that never was', async () => {
    const lost = createEventSink(clientOf(connection, 'no-such-namespace'));
    await expect(lost.deliver('payment-never-started', eventOf('lost'))).rejects.toThrow(/no-such-namespace/i);
  });
});

describe('the end of a flow', () => {
  const sink = () => createEventSink(client);
  const handle = (workflowId: string) => client.workflow.getHandle(workflowId);

  /** Ends it as a worker would, by this command. */
  async function endBy(workflowId: string, command: object): Promise<void> {
    const taskQueue = { name: workflowId };
    const { taskToken } = await client.withDeadline(Date.now() + 30_000, () =>
      client.workflowService.pollWorkflowTaskQueue({ namespace, taskQueue }),
    );
    await client.workflowService.respondWorkflowTaskCompleted({ namespace, taskToken, commands: [command] });
  }

  async function complete(
    workflowId: string,
    result: unknown,
    encode = (clear: Payload[]) => codec.encode(clear),
  ): Promise<void> {
    const payloads = await encode([defaultPayloadConverter.toPayload(result)]);
    await endBy(workflowId, { commandType: 4, completeWorkflowExecutionCommandAttributes: { result: { payloads } } });
    expect((await handle(workflowId).describe()).status.name).toBe('COMPLETED');
  }

  test('is told at once where it has ended, by its result', async () => {
    const workflowId = await openFlow();
    const result = { paymentId: 'pay-1', status: 'succeeded', transactionId: 'txn-1' };
    await complete(workflowId, result);
    expect(await sink().endedFlow(workflowId)).toEqual({ paymentId: 'pay-1', result });
    expect(await sink().awaitEnd(workflowId, 1_000)).toEqual({ paymentId: 'pay-1', result });
  });

  test('is not told by a result that nobody of ours has encrypted', async () => {
    const workflowId = await openFlow();
    await complete(workflowId, { paymentId: 'pay-1', status: 'succeeded' }, (clear) => Promise.resolve(clear));
    expect(await sink().awaitEnd(workflowId, 1_000)).toBeUndefined();
    expect(await sink().endedFlow(workflowId)).toEqual({});
  });

  test('is waited for', async () => {
    const workflowId = await openFlow();
    const ended = sink().awaitEnd(workflowId, 30_000);
    const result = { paymentId: 'pay-1', status: 'declined' };
    await complete(workflowId, result);
    expect(await ended).toEqual({ paymentId: 'pay-1', result });
  });

  test('is not waited for longer than asked, nor once the handler stops', async () => {
    const workflowId = await openFlow();
    expect(await sink().awaitEnd(workflowId, 100)).toBeUndefined();
    const stopping = new AbortController();
    const ended = sink().awaitEnd(workflowId, 60_000, stopping.signal);
    stopping.abort();
    expect(await ended).toBeUndefined();
    expect(await sink().endedFlow(workflowId)).toBeUndefined();
    await handle(workflowId).terminate();
  });

  // In the last second before a deadline the engine answers at once, however often it is asked.
  test('is asked for once while it is waited for', async () => {
    const workflowId = await openFlow();
    const asked = vi.spyOn(client.workflowService, 'getWorkflowExecutionHistory');
    expect(await sink().awaitEnd(workflowId, 700)).toBeUndefined();
    expect(asked).toHaveBeenCalledTimes(1);
    await expect(resultBefore(client, workflowId, Date.now() + 700)).rejects.toThrow(ServiceError);
    expect(asked).toHaveBeenCalledTimes(2);
    // Nor without a pause, where an engine holds no question back.
    asked.mockResolvedValue({ history: { events: [] }, nextPageToken: new Uint8Array([1]) } as never);
    expect(await sink().awaitEnd(workflowId, 700)).toBeUndefined();
    expect(asked).toHaveBeenCalledTimes(4);
    asked.mockRestore();
    await handle(workflowId).terminate();
  });

  test('of a flow that never was is nothing to wait for', async () => {
    expect(await sink().awaitEnd('payment-never-started', 60_000)).toBeUndefined();
  });

  test('without a result that names a payment is told by what the flow shows', async () => {
    const idle = await openFlow();
    await complete(idle, { status: 'idle' });
    expect(await sink().endedFlow(idle)).toEqual({ result: { status: 'idle' } });
    const stopped = await openFlow();
    await handle(stopped).terminate();
    expect(await sink().endedFlow(stopped)).toEqual({});
    // The wait knows nothing: the delivery reads the rest.
    expect(await sink().awaitEnd(stopped, 60_000)).toBeUndefined();
  });

  test('that has failed is told as well: what comes for it is news to somebody else', async () => {
    const refused = await openFlow();
    const failure = { message: 'nothing was sent', applicationFailureInfo: { type: 'InvalidInput' } };
    await endBy(refused, { commandType: 5, failWorkflowExecutionCommandAttributes: { failure } });
    expect(await sink().deliver(refused, eventOf('late'))).toBe('ended');
    expect(await sink().endedFlow(refused)).toEqual({});
  });
});

describe('without an answer', () => {
  const over = async (address: string, run: (sink: ReturnType<typeof createEventSink>) => Promise<void>) => {
    const lazy = Connection.lazy({ address });
    try {
      await run(createEventSink(clientOf(lazy, namespace), { timeoutMs: 300 }));
    } finally {
      await lazy.close();
    }
  };

  test('it gives up at its limit while the server is down', async () => {
    const address = await listening(createServer(), (server) => server.close());
    await over(address, (sink) => expect(sink.deliver('payment-1', eventOf('down'))).rejects.toThrow());
  });

  test('it waits for the end of a flow no longer than asked, whatever is tried again meanwhile', async () => {
    const address = await listening(createServer(), (server) => server.close());
    await over(address, async (sink) => {
      await sink.awaitEnd('payment-1', 200).catch(() => undefined);
      const stopping = new AbortController();
      const ended = sink.awaitEnd('payment-1', 2_000, stopping.signal);
      stopping.abort();
      expect(await ended).toBeUndefined();
      expect(await sink.awaitEnd('payment-1', 60_000, stopping.signal)).toBeUndefined();
      // A connection that is closed before throws outside of any call.
      await sink.idle();
    });
  });

  test('it gives up at its limit while the server takes connections and says nothing', async () => {
    const taken: Socket[] = [];
    const mute = createServer((socket) => void taken.push(socket.on('error', () => undefined)));
    const address = await listening(mute);
    await over(address, (sink) =>
      expect(sink.deliver('payment-1', eventOf('mute'))).rejects.toThrow(/DEADLINE_EXCEEDED|UNAVAILABLE/),
    );
    for (const socket of taken) socket.destroy();
    mute.close();
  });
});

async function listening(server: Server, then?: (server: Server) => void): Promise<string> {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  then?.(server);
  return `127.0.0.1:${port}`;
}
