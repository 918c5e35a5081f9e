import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { FaultInput } from '../../sandbox/control.js';
import { ReferenceBookInMemory } from '../support/reference-book-in-memory.js';
import { type AttemptInfo, Harness, paymentCall, Service } from './support.js';

const CLAIM = { firstRunId: 'the first run', fingerprint: 'ab'.repeat(32) };

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

/** One attempt to create a payment, and what it sent. */
async function attempted(
  book: ReferenceBookInMemory,
  { faults = [], call = paymentCall(), ...info }: AttemptInfo & { faults?: FaultInput[]; call?: typeof CALL } = {},
) {
  const workflowId = call.key.replace(/:.*/, '');
  const engine = { claimOf: () => Promise.resolve(CLAIM), inFirstTry: () => Promise.resolve(info.attempt !== 2) };
  const harness = new Harness({ baseUrl: service.sandbox.url, engine, referenceBook: book });
  for (const fault of faults) await service.sandbox.control.addFault(fault);
  try {
    const failed = await harness.fail('createPayment', call, { workflowId, workflowType: 'charge', ...info });
    return { ...failed, sent: harness.requests, proof: harness.heartbeats };
  } finally {
    await service.sandbox.control.clearFaults();
    await harness.close();
  }
}
const CALL = paymentCall();

/** In it another flow has the reference of the call. */
function taken(paymentId?: string) {
  const book = new ReferenceBookInMemory();
  const workflowId = CALL.key.replace(/:.*/, '');
  const entry = { ...CLAIM, firstRunId: 'another run', namespace: 'default', ...(paymentId && { paymentId }) };
  book.entries.set(workflowId, entry);
  return book;
}

describe('a reference book that does not answer', () => {
  const unreachable = (...fails: ReferenceBookInMemory['fails']) =>
    Object.assign(new ReferenceBookInMemory(), { fails });

  test('stops the call, with the proof that it has not left', async () => {
    expect(await attempted(unreachable('claim'))).toMatchObject({
      type: 'ProviderUnavailable',
      retryable: false,
      details: { referenceBook: 'unreachable', mayHaveLeft: false },
      sent: [],
      proof: [{ refusedThrough: 1 }],
    });
  });

  test.each<[string, AttemptInfo]>([
    ['an earlier attempt', { attempt: 2 }],
    ['a try in a task that was lost', { attempt: 2, isLocal: true }],
  ])('proves nothing about %s', async (_what, info) => {
    const failed = await attempted(unreachable('claim'), info);
    expect(failed).toMatchObject({ details: { referenceBook: 'unreachable', mayHaveLeft: true }, sent: [] });
  });

  test('after the call keeps the payment from the flow', async () => {
    expect(await attempted(unreachable('notePayment'))).toMatchObject({
      type: 'ProviderUnavailable',
      details: { referenceBook: 'unreachable', mayHaveLeft: true },
      sent: ['POST /payments'],
    });
  });
});

describe('a reference of another flow', () => {
  test('is believed to be taken on every attempt', async () => {
    const conflict = { retryable: false, sent: [], details: { referenceBook: 'taken' } };
    expect(await attempted(taken(), { call: CALL })).toMatchObject({ ...conflict, type: 'ReferenceConflict' });
    expect(await attempted(taken(), { call: CALL, attempt: 2 })).toMatchObject({
      ...conflict,
      type: 'ReferenceConflict',
    });
  });

  test('is taken if the service no longer shows its payment', async () => {
    expect(await attempted(taken(randomUUID()), { call: CALL })).toMatchObject({
      type: 'ReferenceConflict',
      message: expect.stringContaining('which the service no longer shows'),
    });
  });

  test('is tried again while its payment can not be read', async () => {
    const faults = [{ action: 'status', status: 503, method: 'GET', path: '/payments/*' }] as const;
    const failed = await attempted(taken(randomUUID()), { call: CALL, faults: [...faults] });
    expect(failed).toMatchObject({ type: 'ProviderUnavailable', retryable: true });
    expect(failed.sent.filter((request) => request.startsWith('POST'))).toEqual([]);
  });
});
