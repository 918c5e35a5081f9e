import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import fc from 'fast-check';
import { transactionEventSchema } from '../../src/contract/messages.js';
import { sign, signedText, signedValues, verify } from '../../src/webhook/signature.js';
import { readEvent } from '../../src/webhook/transaction-event.js';
import { chargeBody, EVENT_TYPE, headersFor, KEY, OTHER_KEY, startHandler, type Harness } from './support.js';

let harness: Harness;
beforeAll(async () => {
  harness = await startHandler();
});
afterAll(() => harness.close());
beforeEach(() => {
  harness.sink.sent.length = 0;
});

const PATHS = [
  ['id'],
  ['account_id'],
  ['payment_id'],
  ['created'],
  ['app_id'],
  ['data', 'id'],
  ['data', 'result', 'status'],
  ['data', 'result', 'category'],
  ['data', 'result', 'sub_category'],
  ['data', 'provider_data', 'response_code'],
  ['data', 'reconciliation_id'],
  ['data', 'amount'],
  ['data', 'currency'],
];

/** A copy of the body with another value in one place; `undefined` removes it. */
function changed(path: readonly string[], value: unknown): unknown {
  const body: Record<string, unknown> = structuredClone(chargeBody());
  let holder = body;
  for (const name of path.slice(0, -1)) holder = holder[name] as Record<string, unknown>;
  holder[path.at(-1) ?? ''] = value;
  return body;
}

async function expectRefused(body: unknown, headers: Record<string, string>): Promise<void> {
  const { status, text } = await harness.post(typeof body === 'string' ? body : JSON.stringify(body), headers);
  expect([status, text]).toEqual([401, '{"error":"not authorized"}']);
  expect(harness.sink.sent).toEqual([]);
}

describe('a forged event changes nothing', () => {
  test.each(PATHS.map((path) => [path.join('.'), path] as const))('when %s was changed or removed', async (_, path) => {
    const headers = headersFor(chargeBody());
    await expectRefused(changed(path, path.includes('amount') ? 1096 : 'another'), headers);
    if (path.includes('app_id')) return;
    await expectRefused(changed(path, undefined), headers);
    await expectRefused(changed(path, null), headers);
  });

  test('when the event type was changed', async () => {
    await expectRefused(chargeBody(), { ...headersFor(chargeBody()), 'event-type': 'payment.charge.create' });
  });

  test('when app_id was swapped for that of a unit whose key the forger holds not', async () => {
    await expectRefused(changed(['app_id'], 'app-other'), headersFor(chargeBody()));
    await expectRefused(chargeBody(), headersFor(chargeBody(), OTHER_KEY));
  });

  test('when app_id is unknown, empty or a name of the runtime, whatever signed it', async () => {
    for (const appId of ['nobody', '__proto__', 'constructor']) {
      const body = changed(['app_id'], appId);
      await expectRefused(body, headersFor(body));
    }
    const empty = changed(['app_id'], '');
    expect((await harness.post(JSON.stringify(empty), headersFor(empty))).status).toBe(400);
  });

  test('when its app id is unknown, which the log names: a unit may lack in the configuration', async () => {
    const own = await startHandler();
    const body = changed(['app_id'], 'app-forgotten');
    await own.post(JSON.stringify(body), headersFor(body));
    await own.post(JSON.stringify(chargeBody()), headersFor(chargeBody(), OTHER_KEY));
    expect(own.logged.map((line) => JSON.parse(line) as object)).toEqual([
      { reason: 'unknownApp', count: 1, appId: 'app-forgotten', message: 'Webhook refused' },
      { reason: 'badSignature', count: 1, message: 'Webhook refused' },
    ]);
    await own.close();
  });

  test('when it was signed with an empty key, or not at all', async () => {
    const body = chargeBody();
    const { signature, ...unsigned } = headersFor(body);
    const empty = `sig1=${createHmac('sha256', '').update(signedText(EVENT_TYPE, body)).digest('hex')}`;
    for (const forged of [empty, '', 'sig1=', `sig2=${signature}`, `${signature}, ${signature}`, 'sig1=0']) {
      await expectRefused(body, { ...unsigned, signature: forged });
    }
    await expectRefused(body, unsigned);
  });

  test('and a flood of them is counted one by one without filling the log', async () => {
    const before = [
      await harness.metric('holdfast_webhook_rejected_total', { reason: 'badSignature' }),
      harness.logged.length,
    ];
    for (let sent = 0; sent < 100; sent += 1) {
      await harness.post(JSON.stringify(chargeBody()), headersFor(chargeBody(), OTHER_KEY));
    }
    const after = await harness.metric('holdfast_webhook_rejected_total', { reason: 'badSignature' });
    expect(after - (before[0] ?? 0)).toBe(100);
    expect(harness.logged.length - (before[1] ?? 0)).toBeLessThan(50);
  });

  test('when it belongs to the other environment, though its signature fits', async () => {
    await expectRefused(chargeBody(), { ...headersFor(chargeBody()), 'x-svc-env': 'live' });
    expect(await harness.metric('holdfast_webhook_rejected_total', { reason: 'environment' })).toBe(1);
  });

  test('when it is of version 1.0.1, which has no signature', async () => {
    const legacy = { event_type: EVENT_TYPE, 'app-id': 'app-default', resource: { id: '1' } };
    await expectRefused(legacy, { version: '1.0.1', 'x-svc-env': 'test', digest: 'abc' });
  });

  test('when a value that the signature needs as text is an object', async () => {
    for (const path of PATHS.filter((path) => !path.includes('app_id'))) {
      for (const value of [{}, [], ['USD'], true]) {
        const { status } = await harness.post(JSON.stringify(changed(path, value)), headersFor(chargeBody()));
        expect([path.join('.'), status]).toEqual([path.join('.'), 400]);
      }
    }
    expect(harness.sink.sent).toEqual([]);
  });

  test('when a repeated key hides another value: what was verified is what is used', async () => {
    const body = chargeBody();
    const headers = headersFor(body);
    const text = JSON.stringify(body);
    await expectRefused(text.replace('"amount":1095', '"amount":1095,"amount":1'), headers);
    await expectRefused(
      text.replace('"created"', '"app_id":"app-default","created"').replace(/}$/, ',"data":{}}'),
      headers,
    );
    const { status } = await harness.post(text.replace('"amount":1095', '"amount":1,"amount":1095'), headers);
    expect(status).toBe(200);
    expect(harness.sink.sent.map(({ event }) => event.amount)).toEqual([1095]);
  });
});

describe('commas that move between fields', () => {
  test('still verify, but make an event that is never trusted', async () => {
    const honest = changed(['data', 'result', 'category'], 'a,b');
    expect((await harness.postSigned(honest)).status).toBe(200);
    const shifted = chargeBody();
    shifted.data.result = { status: 'Failed', category: 'a', sub_category: 'b,insufficient_funds' };
    expect(signedText(EVENT_TYPE, shifted)).toBe(signedText(EVENT_TYPE, honest));
    expect((await harness.post(JSON.stringify(shifted), headersFor(honest))).status).toBe(200);
    expect(harness.sink.sent.map(({ event }) => event.trusted)).toEqual([false, false]);
  });

  test('cannot make a trusted event say something else', async () => {
    const body = chargeBody();
    const shifted = structuredClone(body) as { data: { currency?: string; amount?: unknown } };
    shifted.data.amount = '1095,USD';
    delete shifted.data.currency;
    await expectRefused(shifted, headersFor(body));
  });
});

describe('what cannot be read', () => {
  const good = () => JSON.stringify(chargeBody());
  /** Good in all else, its signature included. */
  const withDeepField = (depth: number) =>
    Buffer.from(good().replace(/}$/, `,"deep":${'['.repeat(depth)}${']'.repeat(depth)}}`));

  test('is not JSON nested 64 deep, nor brackets within a text or beside each other', async () => {
    const brackets = good().replace('DECLINED', `\\"${'['.repeat(1000)}`);
    const beside = Buffer.from(good().replace(/}$/, `,"wide":[${'{},[],'.repeat(100)}0]}`));
    for (const body of [withDeepField(63), brackets, beside]) {
      expect((await harness.post(body, headersFor(chargeBody()))).status).toBe(200);
    }
  });

  test.each([
    ['truncated JSON', () => Buffer.from(good().slice(0, -20))],
    ['no body', () => Buffer.alloc(0)],
    ['an array', () => Buffer.from('[]')],
    ['a number', () => Buffer.from('7')],
    ['null', () => Buffer.from('null')],
    ['bytes that are no UTF-8', () => Buffer.from(good().replace('DECLINED', '\u00c3('), 'latin1')],
    ['JSON nested 100,000 deep', () => withDeepField(100_000)],
    ['JSON nested 65 deep', () => withDeepField(64)],
    [
      'JSON nested 65 deep by brackets of both kinds',
      () => Buffer.from(good().replace(/}$/, `,"deep":${'[{"a":'.repeat(32)}0${'}]'.repeat(32)}}`)),
    ],
    ['a tower of open brackets', () => Buffer.from('['.repeat(1_000_000))],
    ['UTF-16', () => Buffer.from(good(), 'utf16le')],
  ])('is a 400: %s', async (_, make) => {
    const { status } = await harness.post(make(), headersFor(chargeBody()));
    expect(status).toBe(400);
    expect(harness.sink.sent).toEqual([]);
  });

  test.each(['event-type', 'version', 'x-svc-env'])('is a 400 without the header %s', async (name) => {
    const headers = headersFor(chargeBody());
    delete headers[name];
    expect((await harness.post(good(), headers)).status).toBe(400);
  });

  test.each(['1.0.1', '0.9.0', 'v2', 'latest', '1.2.0; x', '1..0', '1.2.0.1', '-1.2.0'])(
    'is a 400 as version %s',
    async (version) => {
      expect((await harness.post(good(), { ...headersFor(chargeBody()), version })).status).toBe(400);
    },
  );

  test('is a 413 above 1 MiB, announced or not, and exactly 1 MiB is taken', async () => {
    const padded = (size: number) => {
      const text = good();
      return text.replace(
        '"redirection"',
        `"padding":"${'x'.repeat(size - text.length - '"padding":"",'.length)}","redirection"`,
      );
    };
    const headers = headersFor(chargeBody());
    expect((await harness.post(padded(1024 * 1024), headers)).status).toBe(200);
    expect((await harness.post(padded(1024 * 1024 + 1), headers)).status).toBe(413);
    const stream = new Blob([padded(2 * 1024 * 1024)]).stream();
    const init = { method: 'POST', headers, body: stream, duplex: 'half' };
    const answer = await fetch(`${harness.url}/webhooks`, init as unknown as RequestInit).then(
      (response) => response.status,
      () => 413, // The server may hang up before the sender has read the answer.
    );
    expect(answer).toBe(413);
    expect(harness.sink.sent).toHaveLength(1);
    expect(await harness.metric('holdfast_webhook_rejected_total', { reason: 'tooLarge' })).toBe(2);
  });

  test('does not depend on the content type', async () => {
    const { 'content-type': _type, ...headers } = headersFor(chargeBody());
    expect((await harness.post(good(), headers)).status).toBe(200);
    for (const type of ['application/json; charset=utf-8', 'text/plain', 'application/x-www-form-urlencoded']) {
      expect((await harness.post(good(), { ...headers, 'content-type': type })).status).toBe(200);
    }
  });
});

describe('for any event', () => {
  const value = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 12 }), fc.constant(''), fc.integer({ min: 0 }));
  const values = fc.tuple(...PATHS.map(() => value));
  const bodyOf = (parts: readonly unknown[]) => {
    const body: Record<string, unknown> = {};
    for (const [index, path] of PATHS.entries()) {
      let holder = body;
      for (const name of path.slice(0, -1)) holder = (holder[name] ??= {}) as Record<string, unknown>;
      holder[path.at(-1) ?? ''] = parts[index];
    }
    return body;
  };

  test('any change of the signed text is refused, and so is any other key', () => {
    fc.assert(
      fc.property(values, fc.nat(PATHS.length - 1), value, fc.string({ minLength: 1 }), (parts, at, other, key) => {
        const text = signedText(EVENT_TYPE, bodyOf(parts));
        const signature = sign(text, KEY);
        expect(verify(text, signature, [KEY])).toBe(0);
        const mutated = signedText(EVENT_TYPE, bodyOf(parts.with(at, other)));
        expect(verify(mutated, signature, [KEY])).toBe(mutated === text ? 0 : undefined);
        if (key !== KEY) expect(verify(text, sign(text, key), [KEY])).toBeUndefined();
      }),
    );
  });

  test('a trusted event says what its signed text says, wherever that is cut, and no other can be trusted', () => {
    fc.assert(
      fc.property(values, (parts) => {
        const body = bodyOf(parts);
        const text = signedText(EVENT_TYPE, body);
        const { event } = readEvent(signedValues(EVENT_TYPE, body), 'default');
        fc.pre(event !== undefined);
        expect(transactionEventSchema.parse(event)).toEqual(event);
        if (event?.trusted === true) expect(readEvent(text.split(','), 'default').event).toEqual(event);
        else expect(text.split(',').length).toBeGreaterThan(14);
      }),
    );
  });
});
