import { describe, expect, test } from 'vitest';
import type { Client } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { createEventSink } from '../../src/client/event-sink.js';
import type { TransactionEvent } from '../../src/contract/messages.js';

const eventOf = (hash: string): TransactionEvent => ({
  hash,
  eventType: 'payment.charge.update',
  created: '2027-01-31T10:00:00Z',
  businessUnit: 'default',
  paymentId: 'pay-1',
  trusted: true,
});

interface Signal {
  requestId: string;
  signalName: string;
  workflowExecution: { workflowId: string };
}

/** A connection whose signals end with `failure`, if there is one. */
function clientThat(failure?: Error): { client: Client; signals: Signal[] } {
  const signals: Signal[] = [];
  const client = {
    options: {
      namespace: 'default',
      loadedDataConverter: { payloadConverter: defaultPayloadConverter, payloadCodecs: [] },
    },
    connection: { withDeadline: (_at: number, call: () => Promise<unknown>) => call() },
    workflowService: {
      signalWorkflowExecution: (signal: Signal) => {
        signals.push(signal);
        return failure === undefined ? Promise.resolve({}) : Promise.reject(failure);
      },
    },
  };
  return { client: client as unknown as Client, signals };
}

const grpcError = (code: number, details: string): Error =>
  Object.assign(new Error(details), { code, details, metadata: {} });

describe('an event that is signalled to its flow', () => {
  test('carries its whole hash as request id, by which the engine drops repeats and no other event', async () => {
    const { client, signals } = clientThat();
    const hashes = ['0', '1'].map((end) => 'a'.repeat(63) + end);
    for (const hash of [...hashes, ...hashes]) {
      expect(await createEventSink(client).deliver('payment-order-1', eventOf(hash))).toBe('delivered');
    }
    expect(signals.map(({ requestId }) => requestId)).toEqual([...hashes, ...hashes]);
    expect(signals[0]).toMatchObject({
      signalName: 'transactionEvent',
      workflowExecution: { workflowId: 'payment-order-1' },
    });
  });

  test.each([
    ['ended', 5, 'workflow execution already completed'],
    ['notFound', 5, 'workflow not found for ID: payment-order-1'],
    ['notFound', 5, 'workflow execution not found'],
  ])('is told "%s" when the engine answers %i %s', async (delivery, code, details) => {
    const { client } = clientThat(grpcError(code, details));
    expect(await createEventSink(client).deliver('payment-order-1', eventOf('a'))).toBe(delivery);
  });

  test.each([
    [5, 'Namespace default is not found.'],
    [5, 'namespace not found'],
    [5, 'shard not found'],
    [14, 'workflow not found for ID: payment-order-1'],
    [4, 'deadline exceeded'],
    [8, 'namespace rate limit exceeded'],
  ])('is not acknowledged on %i %s, which says nothing of the flow: it would be lost', async (code, details) => {
    const { client } = clientThat(grpcError(code, details));
    await expect(createEventSink(client).deliver('payment-order-1', eventOf('a'))).rejects.toThrow(details);
  });
});
