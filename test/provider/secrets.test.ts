import { afterEach, describe, expect, test } from 'vitest';
import { inspect } from 'node:util';
import type { ProviderError } from '../../src/provider/index.js';
import {
  PAYMENT_ID,
  PRIVATE_KEY,
  clientOf,
  failureOf,
  fakeService,
  fakeSocketService,
  json,
} from './support/fake-service.js';

const CARD = '4111111111111111';
const CVV = '737';
const HOLDER = 'Maria Rossi';
const CARD_CHARGE = {
  paymentMethod: {
    type: 'untokenized',
    sourceType: 'credit_card',
    cardNumber: CARD,
    creditCardCvv: CVV,
    holderName: HOLDER,
  },
} as const;
/** What a careless service or proxy might send back. */
const ECHO = `key ${PRIVATE_KEY}, card ${CARD} or 4111 1111 1111 1111, cvv ${CVV}, holder ${HOLDER}`;

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((service) => service.close()));
});

function shown(value: unknown): string {
  const error = value as ProviderError;
  return [
    inspect(value, { depth: null, showHidden: true }),
    JSON.stringify(value),
    String(value),
    error.message,
    error.stack,
  ].join('\n');
}

const SECRETS = [PRIVATE_KEY, CARD, '4111 1111', CVV, HOLDER];
/** Ports and places in a file: any of them may contain the digits of the CVV. */
const NUMBERS_OF_THE_MACHINE = /(?<=127\.0\.0\.1:|Port"?: ?)\d+|(?<=\.[cm]?[jt]s):\d+:\d+|(?<=node:[\w/]+):\d+:\d+/g;

function leaksOf(value: unknown): string[] {
  const text = shown(value).replaceAll(NUMBERS_OF_THE_MACHINE, '');
  return SECRETS.filter((secret) => text.includes(secret));
}

describe('secrets stay out of sight', () => {
  test('a client shows no key, however it is printed', () => {
    const client = clientOf('http://127.0.0.1:1');
    expect(leaksOf(client)).toEqual([]);
    expect(JSON.stringify(client)).toBe('{}');
  });

  test('a card number that was put where the key of a map belongs is not named', async () => {
    const request = { ...CARD_CHARGE, additionalDetails: { [CARD]: 5 } };
    const error = await failureOf(clientOf('http://127.0.0.1:1').createCharge(PAYMENT_ID, request as never));
    expect(error).toMatchObject({
      kind: 'request',
      faults: [expect.stringMatching(/^additionalDetails\.\*{12}1111: /)],
    });
    expect(leaksOf(error)).toEqual([]);
  });

  test.each([
    ['an error body that repeats the request', 400, { category: ECHO, description: ECHO, more_info: ECHO }],
    ['an error body that is no JSON', 500, ECHO],
    ['a 2xx that does not fit', 201, { id: 5, [`card_${CARD}`]: ECHO, result: { status: ECHO }, amount: CARD }],
    ['a 2xx that is no JSON', 201, `cut ${CARD.replace(/(.{4})/g, '$1 ')}`],
    [
      'a 2xx that is half a JSON body',
      201,
      JSON.stringify({ payment_method: { holder_name: HOLDER, n: CARD } }).slice(0, -2),
    ],
  ])('%s', async (_name, status, body) => {
    const service = await fakeService(json(status, body));
    open.push(service);
    for (const apiVersion of ['1.1.0', '1.3.0'] as const) {
      const error = await failureOf(clientOf(service.url, { apiVersion }).createCharge(PAYMENT_ID, CARD_CHARGE));
      expect(error.kind).toBe(status === 201 ? 'unexpected' : 'http');
      expect(leaksOf(error)).toEqual([]);
    }
  });

  test('an error body that repeats a card to be tokenised', async () => {
    const service = await fakeService(json(400, { category: ECHO, description: `${ECHO}, CPF 123456789` }));
    open.push(service);
    const unit = { appId: 'a', privateKey: PRIVATE_KEY, publicKey: 'p', apiVersion: '1.3.0' } as const;
    const card = { tokenType: 'credit_card', cardNumber: CARD, creditCardCvv: CVV, holderName: HOLDER } as const;
    const request = { ...card, identityDocument: { type: 'CPF', number: '123456789' } };
    const error = await failureOf(clientOf(service.url, { unit }).createToken(request));
    expect(leaksOf(error)).toEqual([]);
    expect(shown(error)).not.toContain('123456789');
  });

  test('an answer that is no HTTP', async () => {
    const service = await fakeSocketService((socket) => socket.once('data', () => socket.end(ECHO)));
    open.push(service);
    expect(leaksOf(await failureOf(clientOf(service.url).createCharge(PAYMENT_ID, CARD_CHARGE)))).toEqual([]);
  });

  test('long texts of the service are cut', async () => {
    const service = await fakeService(json(400, { description: 'x'.repeat(100_000) }));
    open.push(service);
    const error = await failureOf(clientOf(service.url).getPayment(PAYMENT_ID));
    expect(error.description?.length).toBeLessThan(600);
    expect(error.message.length).toBeLessThan(1500);
  });

  test('a request id can not smuggle control characters or a novel into a log', async () => {
    const service = await fakeService(json(400, {}, { 'x-svc-request-id': `a\tb${'c'.repeat(500)}` }));
    open.push(service);
    const error = await failureOf(clientOf(service.url).getPayment(PAYMENT_ID));
    expect(error.requestId).toMatch(/^abc+$/);
    expect(error.requestId).toHaveLength(128);
  });
});
