import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Config } from '../../src/config/index.js';
import { createProviders } from '../../workers/providers.js';
import { type Answer, fakeService, json, PAYMENT_ID } from '../provider/support/fake-service.js';
import { GOOD_CARD } from '../sandbox/support/sandbox.js';
import { callsFor, NOTHING } from './calls.js';
import { Prepared } from './prepared.js';
import { Harness, HOUR, Service } from './support.js';

let service: Service;
let prepared: Prepared;
let harness: Harness;
beforeAll(async () => {
  service = await Service.start();
  prepared = new Prepared(service.sandbox, '1.3.0');
});
afterAll(async () => {
  await prepared.close();
  await service.close();
});
beforeEach(() => {
  harness = new Harness({ baseUrl: service.sandbox.url });
});
afterEach(async () => {
  await harness.close();
  await service.sandbox.control.clearFaults();
});

describe('a customer', () => {
  test('whose reference is taken is ReferenceConflict, and the search finds who has it', async () => {
    const ids = await prepared.for('findCustomer');
    const calls = callsFor(ids, randomUUID());
    const failed = await harness.fail('createCustomer', calls.createCustomer);
    expect(failed).toMatchObject({ type: 'ReferenceConflict', retryable: false, details: { httpStatus: 409 } });
    expect(await harness.run('findCustomer', calls.findCustomer)).toMatchObject({ customerId: ids.customerId });
  });

  test('whose reference was refused after a lost reply is not believed to be another: a read decides', async () => {
    const ids = await prepared.for('findCustomer');
    const { createCustomer } = callsFor(ids, randomUUID());
    const failed = await harness.fail('createCustomer', createCustomer, { attempt: 2 });
    expect(failed).toMatchObject({ type: 'OutcomeUnknown', details: { disbelieved: 'ReferenceConflict' } });
  });

  test('is not found under a reference that was never used, nor under that of a deleted one', async () => {
    const ids = await prepared.for('getCustomer');
    const { findCustomer } = callsFor(ids);
    await prepared.client.deleteCustomer(ids.customerId);
    expect(await harness.run('findCustomer', findCustomer)).toBeUndefined();
    expect(await harness.run('findCustomer', { ...findCustomer, customerReference: randomUUID() })).toBeUndefined();
  });
});

describe('deletePaymentMethod', () => {
  const name = 'deletePaymentMethod';

  test('of what does not exist is NotFound on the first attempt, since the id may have been mistyped', async () => {
    expect(await harness.fail(name, callsFor(NOTHING)[name])).toMatchObject({ type: 'NotFound', retryable: false });
  });

  test('whose reply was lost succeeds on the next attempt', async () => {
    const call = callsFor(await prepared.for(name))[name];
    await service.sandbox.control.addFault({ action: 'drop_reply', method: 'DELETE', path: '*', times: 1 });
    expect(await harness.fail(name, call)).toMatchObject({ type: 'ProviderUnavailable', retryable: true });
    expect(await harness.run(name, call, { attempt: 2 })).toBeUndefined();
  });

  test('is not believed to have worked by a 404 after an attempt that changed nothing: the card is still on file', async () => {
    const call = callsFor(await prepared.for(name))[name];
    for (const status of [503, 404])
      await service.sandbox.control.addFault({ action: 'status', status, method: 'DELETE', path: '*', times: 1 });
    expect(await harness.fail(name, call)).toMatchObject({ type: 'ProviderUnavailable', retryable: true });
    const failed = await harness.fail(name, call, { attempt: 2 });
    expect(failed).toMatchObject({ type: 'UnexpectedResponse', retryable: true, details: { httpStatus: 404 } });
    expect(failed.message).toContain('still on file');
    expect(await harness.run(name, call, { attempt: 3 })).toBeUndefined();
  });

  test.each([
    ['an answer that is no deletion is sent again while the card is on file', false],
    ['such an answer has worked where the card is gone', true],
  ])('with %s', async (_name, after) => {
    const call = callsFor(await prepared.for(name))[name];
    await service.sandbox.control.addFault({ action: 'garbage', method: 'DELETE', path: '*', after, times: 1 });
    if (after) return expect(await harness.run(name, call)).toBeUndefined();
    const failed = await harness.fail(name, call);
    expect(failed).toMatchObject({ type: 'UnexpectedResponse', retryable: true, details: { httpStatus: 200 } });
    expect(failed.message).toContain('still on file');
    expect(await harness.run(name, call, { attempt: 2 })).toBeUndefined();
  });

  test('with such an answer is sent again where no read says whether the card is gone', async () => {
    const call = callsFor(await prepared.for(name))[name];
    await service.sandbox.control.addFault({ action: 'garbage', method: 'DELETE', path: '*', after: true, times: 1 });
    await service.sandbox.control.addFault({ action: 'status', status: 405, method: 'GET', path: '*', times: 2 });
    expect(await harness.fail(name, call)).toMatchObject({ type: 'UnexpectedResponse', retryable: true });
    expect(await harness.run(name, call, { attempt: 2 })).toBeUndefined();
  });

  test('after attempts that never left is still NotFound for what does not exist', async () => {
    const call = callsFor(NOTHING)[name];
    const nobody = new Harness({ baseUrl: 'http://127.0.0.1:1' });
    expect(await nobody.fail(name, call)).toMatchObject({ retryable: true, details: { mayHaveLeft: false } });
    const heartbeatDetails = nobody.heartbeats.at(-1);
    await nobody.close();
    expect(await harness.fail(name, call, { attempt: 2, heartbeatDetails })).toMatchObject({ type: 'NotFound' });
  });
});

const { getPaymentMethod: oneCard, listPaymentMethods: allCards } = callsFor(NOTHING);
const CARD = { token: NOTHING.token, last_4_digits: '1111' };
const customer = (more: object = {}) => ({ id: allCards.customerId, customer_reference: 'c-1', ...more });
const OWN = { category: 'api_request_error', description: 'Not found.' };
const knowsNone = json(404, OWN);
const refuses: Answer = (response) => void response.writeHead(404).end('<html>');

/** What a read of cards finds at a service that answers so to it, to the read of the customer, and to its reference. */
async function asked(
  name: 'listPaymentMethods' | 'getPaymentMethod',
  ofCards: Answer,
  ofCustomer: Answer,
  byReference: Answer = refuses,
): Promise<unknown> {
  const stub = await fakeService((response, request) => {
    const isOfCards = request.url.includes('/payment-methods');
    (isOfCards ? ofCards : request.url.includes('?') ? byReference : ofCustomer)(response, request);
  });
  const own = new Harness({ baseUrl: stub.url });
  const call = name === 'getPaymentMethod' ? oneCard : { ...allCards, customerReference: 'c-1' };
  const found = await own.run(name, call as never).catch(async () => await own.fail(name, call as never));
  await own.close();
  await stub.close();
  return found;
}

describe('getPaymentMethod, where the read of one card is refused', () => {
  const name = 'getPaymentMethod';
  const shown = json(200, customer({ payment_methods: [{ token: PAYMENT_ID, last_4_digits: '2222' }, CARD] }));
  const REFUSALS: [string, Answer][] = [
    ['its own 404', knowsNone],
    ['the 404 of a proxy', refuses],
    ['405', json(405, OWN)],
    ['501', json(501, OWN)],
  ];

  test.each(REFUSALS)('with %s finds the card that the customer shows, and no other one', async (_how, ofCard) => {
    expect(await asked(name, ofCard, shown)).toMatchObject({ token: NOTHING.token, last4Digits: '1111' });
    for (const without of [customer(), customer({ payment_methods: [] })])
      expect(await asked(name, ofCard, json(200, without))).toMatchObject({ type: 'NotFound', retryable: false });
    expect(await asked(name, ofCard, knowsNone)).toMatchObject({ type: 'NotFound', retryable: false });
  });

  test.each(REFUSALS)('with %s says neither while the customer can not be read', async (_how, ofCard) => {
    for (const ofCustomer of [refuses, json(405, OWN), json(503, {})])
      expect(await asked(name, ofCard, ofCustomer)).toMatchObject({ type: 'ProviderUnavailable', retryable: true });
  });

  test('is not asked for once more where the service refuses the token itself', async () => {
    expect(await asked(name, json(400, OWN), shown)).toMatchObject({ type: 'InvalidInput', retryable: false });
  });
});

describe('listPaymentMethods, where the list is refused', () => {
  const name = 'listPaymentMethods';

  test.each([404, 405, 501])('with %i is what the customer shows', async (status) => {
    const shows = json(200, customer({ payment_methods: [CARD] }));
    const ofList = json(status, {});
    expect(await asked(name, ofList, shows)).toMatchObject([{ token: NOTHING.token, last4Digits: '1111' }]);
    expect(await asked(name, ofList, json(200, customer()))).toEqual([]);
  });

  test.each([
    ['the service knows no such customer', knowsNone, knowsNone, true],
    ['its reference has no customer any more', knowsNone, json(200, []), true],
    ['it is still found by its reference', knowsNone, json(200, [customer()]), false],
    ['a proxy may have answered', refuses, json(200, []), false],
    ['the customer can not be read either', json(405, { category: 'api_request_error' }), json(200, []), false],
  ])('says that the customer is gone only if it is: %s', async (_name, ofCustomer, byReference, isGone) => {
    const failed = await asked(name, json(404, {}), ofCustomer, byReference);
    expect(failed).toMatchObject({ type: 'NotFound', retryable: false });
    expect((failed as { details: object }).details).toMatchObject(isGone ? { noCustomer: true } : { httpStatus: 404 });
    expect('noCustomer' in (failed as { details: object }).details).toBe(isGone);
  });

  test('is asked again where the customer gets no answer', async () => {
    expect(await asked(name, json(404, {}), json(503, {}))).toMatchObject({
      type: 'ProviderUnavailable',
      retryable: true,
    });
  });
});

describe('deletePaymentMethod, once an operator has reset the activity', () => {
  test('believes no older proof that an attempt never left: the one before may have deleted', async () => {
    const call = callsFor(NOTHING).deletePaymentMethod;
    const nobody = new Harness({ baseUrl: 'http://127.0.0.1:1' });
    await nobody.fail('deletePaymentMethod', call);
    const proofOfTheFirst = nobody.heartbeats.at(-1);
    // Its second attempt has deleted, and its reply was lost. After the reset attempts are counted from one again.
    const now = Date.now();
    const afterReset = { attempt: 1, scheduledTimestampMs: now - HOUR, currentAttemptScheduledTimestampMs: now };
    await nobody.fail('deletePaymentMethod', call, { ...afterReset, heartbeatDetails: proofOfTheFirst });
    const heartbeatDetails = nobody.heartbeats.at(-1);
    await nobody.close();
    const next = { ...afterReset, attempt: 2, heartbeatDetails };
    expect(await harness.run('deletePaymentMethod', call, next)).toBeUndefined();
  });
});

describe('a consent id', () => {
  test.each([
    ['is handed to the flow', 'MCC0000011121', 'MCC0000011121'],
    [
      'that reads like a card number is handed over whole: a starred one is of no use',
      '340000000000009',
      '340000000000009',
    ],
  ])('%s', async (_name, id, kept) => {
    const answer = { id: PAYMENT_ID, result: { status: 'Succeed' }, provider_data: { network_transaction_id: id } };
    const stub = await fakeService(json(201, answer));
    const own = new Harness({ baseUrl: stub.url });
    const record = await own.run('createCharge', callsFor(NOTHING).createCharge);
    expect(record.consentTransactionId).toBe(kept);
    await own.close();
    await stub.close();
  });
});

describe('the clients that a worker makes', () => {
  test('can make tokens where the business unit has a public key', async () => {
    const unit = { appId: 'holdfast-sandbox', apiVersion: '1.3.0', privateKey: 'sandbox-private-key' };
    const units = [
      { ...unit, name: 'default', publicKey: 'sandbox-public-key' },
      { ...unit, name: 'without' },
    ];
    const config = {
      apiBaseUrl: service.sandbox.url,
      environment: 'test',
      businessUnits: new Map(units.map((each) => [each.name, each])),
    } as unknown as Config;
    const providers = createProviders(config);
    const card = { tokenType: 'credit_card', holderName: 'Ann', cardNumber: GOOD_CARD } as const;
    expect((await providers.get('default')?.createToken(card))?.data.token).toEqual(expect.any(String));
    await expect(providers.get('without')?.createToken(card)).rejects.toThrow('unit.publicKey');
  });
});
