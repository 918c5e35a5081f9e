import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { sign, SIGNED_TEXT_COMMAS, signedText, verify } from '../../src/webhook/signature.js';

const KEY = 'test-private-key';

const ALL_FIELDS = {
  id: 'test-id',
  account_id: 'test-account-id',
  payment_id: 'test-payment-id',
  created: '2018-10-03T05:14:17.196Z',
  app_id: 'test-app-id',
  data: {
    id: 'test-transaction-id',
    result: { status: 'Pending', category: 'payment_method_declined', sub_category: 'declined_by_issuing_bank' },
    provider_data: { response_code: '124' },
    reconciliation_id: 'test-reconciliation-id',
    amount: 42,
    currency: 'RUB',
  },
};

const MISSING_FIELDS = {
  id: 'test-id',
  account_id: 'test-account-id',
  payment_id: 'test-app-id',
  created: '2018-10-03T05:14:17.196Z',
  app_id: 'test-app-id',
  data: {
    id: 'test-transaction-id',
    result: { status: 'Pending' },
    provider_data: { response_code: '124' },
    reconciliation_id: 'test-reconciliation-id',
  },
};

const PAYMENT_EVENT = {
  id: '150f1279-6d2c-4728-9e23-6b303f3f1f2f-2020-11-06T14:33:46.150Z-fe14a744-ade7-4a15-8df4-a0b12ac11590',
  account_id: '2058ac1f-ca4b-497f-8181-341e0eea5392',
  payment_id: '150f1279-6d2c-4728-9e23-6b303f3f1f2f',
  created: '2020-11-06T14:33:46.150Z',
  app_id: 'com.gojuno.gett_development',
  data: { id: '150f1279-6d2c-4728-9e23-6b303f3f1f2f', amount: 100, currency: 'RUB' },
};

describe('fixed vectors of the service', () => {
  test.each([
    {
      name: 'all fields',
      eventType: 'payment.authorization.create',
      body: ALL_FIELDS,
      text: 'payment.authorization.create,test-id,test-account-id,test-payment-id,2018-10-03T05:14:17.196Z,test-app-id,test-transaction-id,Pending,payment_method_declined,declined_by_issuing_bank,124,test-reconciliation-id,42,RUB',
      hex: 'b5457f3a7c7e8bdeea150485240b0a2c041f63d7ec5460c186ccde1e18453c3d',
    },
    {
      name: 'missing fields',
      eventType: 'payment.authorization.create',
      body: MISSING_FIELDS,
      text: 'payment.authorization.create,test-id,test-account-id,test-app-id,2018-10-03T05:14:17.196Z,test-app-id,test-transaction-id,Pending,,,124,test-reconciliation-id,,',
      hex: 'f4a3827af9a1d3a33e33db9dc226e54c676e46295e2e27c3a8115280def4f21c',
    },
    {
      name: 'a payment event',
      eventType: 'payment.payment.create',
      body: PAYMENT_EVENT,
      text: 'payment.payment.create,150f1279-6d2c-4728-9e23-6b303f3f1f2f-2020-11-06T14:33:46.150Z-fe14a744-ade7-4a15-8df4-a0b12ac11590,2058ac1f-ca4b-497f-8181-341e0eea5392,150f1279-6d2c-4728-9e23-6b303f3f1f2f,2020-11-06T14:33:46.150Z,com.gojuno.gett_development,150f1279-6d2c-4728-9e23-6b303f3f1f2f,,,,,,100,RUB',
      hex: 'a74ee728238d42eef7bed9e832eba5b9ab9d95d487027610b8ae50557f09cd05',
    },
  ])('$name give the documented text and digest', ({ eventType, body, text, hex }) => {
    expect(signedText(eventType, body)).toBe(text);
    expect(sign(text, KEY)).toBe(`sig1=${hex}`);
    expect(verify(text, `sig1=${hex}`, [KEY])).toBe(0);
  });
});

describe('the signed text', () => {
  test('always has 13 commas, also when every value is missing', () => {
    expect(SIGNED_TEXT_COMMAS).toBe(13);
    for (const body of [{}, null, undefined, 'text', 7, [], { data: null }, { data: { result: 'x' } }]) {
      expect(signedText('t', body)).toBe(`t${','.repeat(13)}`);
    }
  });

  test('renders 0 as "0", null as nothing, and large integers without an exponent', () => {
    expect(signedText('t', { data: { amount: 0 } })).toMatch(/,0,$/);
    expect(signedText('t', { data: { amount: null, currency: 'EUR' } })).toMatch(/,,EUR$/);
    expect(signedText('t', { data: { amount: 1e21 } })).toMatch(/,1000000000000000000000,$/);
    expect(signedText('t', { data: { amount: 10.5 } })).toMatch(/,10\.5,$/);
  });

  test('refuses a value that no signature can cover', () => {
    for (const value of [{}, [], ['EUR'], true, false]) {
      expect(() => signedText('t', { data: { currency: value } })).toThrow('data.currency');
    }
  });

  test('takes no value from a prototype', () => {
    const body = Object.create({ id: 'inherited' }) as object;
    expect(signedText('t', body)).toBe(`t${','.repeat(13)}`);
  });
});

describe('verification', () => {
  const text = signedText('payment.charge.update', ALL_FIELDS);

  test('names the key of the ring that matched, so that a rotation can be watched', () => {
    const signature = sign(text, 'old-key');
    expect(verify(text, signature, ['new-key', 'old-key'])).toBe(1);
    expect(verify(text, signature, ['new-key'])).toBeUndefined();
    expect(verify(text, signature, [])).toBeUndefined();
  });

  test('never accepts an empty key', () => {
    expect(() => sign(text, '')).toThrow(RangeError);
    const forged = 'sig1=' + emptyKeyDigest(text);
    expect(verify(text, forged, [''])).toBeUndefined();
    expect(verify(text, forged, ['', KEY])).toBeUndefined();
  });

  test('takes hex of either case', () => {
    const hex = sign(text, KEY).slice('sig1='.length);
    expect(verify(text, `sig1=${hex.toUpperCase()}`, [KEY])).toBe(0);
    expect(verify(text, `sig1=${hex.toUpperCase()}`, ['another'])).toBeUndefined();
  });

  test('refuses every other form of the header', () => {
    const good = sign(text, KEY);
    const hex = good.slice('sig1='.length);
    const others = [undefined, '', 'sig1=', hex, `sig2=${hex}`, `sig1=${hex}0`, `sig1=${hex.slice(1)}`, `${good} `];
    others.push(`SIG1=${hex}`, `${good}, ${good}`, `sig1=${'z'.repeat(64)}`, `${good}\n`);
    expect(others.map((header) => verify(text, header, [KEY]))).toEqual(others.map(() => undefined));
    expect(verify(text, good, [KEY])).toBe(0);
  });

  test('refuses a text with a lone surrogate, which UTF-8 would turn into another text', () => {
    const signature = sign('a,\ufffd', KEY);
    expect(verify('a,\ufffd', signature, [KEY])).toBe(0);
    expect(verify('a,\ud800', signature, [KEY])).toBeUndefined();
  });
});

function emptyKeyDigest(text: string): string {
  return createHmac('sha256', '').update(text).digest('hex');
}
