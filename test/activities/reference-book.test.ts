import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, fakeService, json } from '../provider/support/fake-service.js';
import { ReferenceBookInMemory } from '../support/reference-book-in-memory.js';
import { type AttemptInfo, failedWith, Harness, paymentCall, Service } from './support.js';

const CLAIM = { firstRunId: 'the first run', fingerprint: 'ab'.repeat(32) };

let service: Service;
beforeAll(async () => {
  service = await Service.start();
});
afterAll(() => service.close());

/** One attempt to create a payment, and what it sent. */
async function attempted(
  book: ReferenceBookInMemory,
  {
    url = service.sandbox.url,
    call = paymentCall(),
    isBraked = false,
    ...info
  }: AttemptInfo & { url?: string; call?: typeof CALL; isBraked?: boolean } = {},
) {
  const workflowId = call.key.replace(/:.*/, '');
  const engine = {
    claimOf: () => Promise.resolve(CLAIM),
    inFirstTry: () => Promise.resolve(info.attempt !== 2),
    taskWasLost: () => Promise.resolve(false),
  };
  const brakeOf = () => (isBraked ? BRAKE : undefined);
  const harness = new Harness({ baseUrl: url, engine, referenceBook: book, brakeOf });
  try {
    const ended = await harness
      .run('createPayment', call, { workflowId, workflowType: 'charge', ...info })
      .catch(failedWith);
    return { ...ended, sent: harness.requests, proof: harness.heartbeats };
  } finally {
    await harness.close();
  }
}
const CALL = paymentCall();
const WORKFLOW_ID = CALL.key.replace(/:.*/, '');
const OWN = { category: 'api_request_error', description: 'The resource was not found.' };
const BRAKE = { businessUnit: 'default', who: 'Ada', why: 'charges twice', since: '2027-01-31T10:00:00.000Z' };

/** In it another flow has the reference of the call. */
function taken(paymentId?: string) {
  const book = new ReferenceBookInMemory();
  const entry = { ...CLAIM, firstRunId: 'another run', namespace: 'default', ...(paymentId && { paymentId }) };
  book.entries.set(WORKFLOW_ID, entry);
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

  test.each<[string, Answer]>([
    ['the service is away', json(503, {})],
    ['a proxy answers 404', (response) => void response.writeHead(404).end('<html>')],
    ['the service has not looked for it', json(404, { ...OWN, more_info: 'Path not found' })],
    ['it was made under another app id', json(404, { ...OWN, more_info: 'App_id that is related to ... not found' })],
  ])('is tried again while its payment can not be read: %s', async (_why, answer) => {
    const stub = await fakeService(answer);
    const failed = await attempted(taken(randomUUID()), { call: CALL, url: stub.url });
    await stub.close();
    expect(failed).toMatchObject({ type: 'ProviderUnavailable', retryable: true });
    expect(failed.sent).toEqual([expect.stringMatching(/^GET /)]);
  });

  test('is found although its unit is braked: what was charged under it is no payment that was never sent', async () => {
    const { id } = (await service.sandbox.api.createPayment({})).body;
    const adopted = await attempted(taken(id), { call: CALL, isBraked: true });
    expect(adopted).toMatchObject({ paymentId: id, ofEarlierFlow: true, sent: [expect.stringMatching(/^GET /)] });
    const conflict = { type: 'ReferenceConflict', details: { referenceBook: 'taken' }, sent: [] };
    expect(await attempted(taken(), { call: CALL, isBraked: true })).toMatchObject(conflict);
    const unreachable = Object.assign(taken(id), { fails: ['ownerOf'] });
    const waits = { type: 'ProviderUnavailable', details: { referenceBook: 'unreachable', mayHaveLeft: false } };
    expect(await attempted(unreachable, { call: CALL, isBraked: true })).toMatchObject({ ...waits, sent: [] });
  });

  test('is not claimed by a flow that a brake keeps from sending', async () => {
    const book = new ReferenceBookInMemory();
    const refused = { type: 'ProviderUnavailable', details: { braked: true, mayHaveLeft: false }, sent: [] };
    expect(await attempted(book, { call: CALL, isBraked: true })).toMatchObject(refused);
    expect(book.entries.size).toBe(0);
    book.entries.set(WORKFLOW_ID, { ...CLAIM, namespace: 'default' });
    expect(await attempted(book, { call: CALL, isBraked: true })).toMatchObject(refused);
  });

  test('is looked for before a flow concludes that it has sent nothing', async () => {
    const looked = async (book: ReferenceBookInMemory) => {
      const engine = { claimOf: () => Promise.resolve(CLAIM), earlierPayment: () => Promise.resolve(undefined) };
      const harness = new Harness({ baseUrl: service.sandbox.url, engine, referenceBook: book });
      const info = { workflowId: WORKFLOW_ID, workflowType: 'charge' };
      const found = await harness.run('findEarlierPayment', undefined as never, info).catch(failedWith);
      await harness.close();
      return found;
    };
    const conflict = { type: 'ReferenceConflict', retryable: false, details: { referenceBook: 'taken' } };
    const unread = expect.stringContaining('it made payment of-old, which could not be read');
    expect(await looked(taken('of-old'))).toMatchObject({ ...conflict, message: unread });
    expect(await looked(taken())).toMatchObject(conflict);
    expect(await looked(new ReferenceBookInMemory())).toBeUndefined();
    const unreachable = Object.assign(taken('of-old'), { fails: ['ownerOf'] });
    // Any error but one of this kind is tried again.
    await expect(looked(unreachable)).rejects.toThrow('the reference book does not answer');
  });
});
