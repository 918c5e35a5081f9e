import { describe, expect, test, vi } from 'vitest';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import fc from 'fast-check';
import { isSealed } from '../../src/contract/payload-marks.js';
import { parseKeyRing } from '../../src/security/key-ring.js';
import { EncryptionCodec } from '../../src/security/payload-codec.js';
import { payloadConverter } from '../../src/security/payload-converter.js';
import { writtenCardNumber } from '../contract/card-numbers.arbitrary.js';

const key = (fill: number) => Buffer.alloc(32, fill).toString('base64');
const codecFor = (keys: string) => new EncryptionCodec(parseKeyRing(keys));
const K1 = `k1:${key(1)}`;

const jsonPayload = (value: unknown) => defaultPayloadConverter.toPayload(value);
const bytes = (payload: Payload | undefined) => Buffer.from(payload?.data ?? []);
const textOf = (value: Uint8Array | undefined) => Buffer.from(value ?? []).toString();

async function one(result: Promise<Payload[]>): Promise<Payload> {
  const [payload] = await result;
  if (payload === undefined) throw new Error('no payload came back');
  return payload;
}
const markerOf = (payload: Payload) => JSON.parse(bytes(payload).toString()) as unknown;

const payloads = fc.record({
  metadata: fc.dictionary(fc.string(), fc.uint8Array({ maxLength: 40 })),
  data: fc.uint8Array({ maxLength: 400 }),
});

describe('EncryptionCodec', () => {
  test('refunds every payload as it was, with the mark of what came encrypted', async () => {
    const codec = codecFor(K1);
    await fc.assert(
      fc.asyncProperty(fc.array(payloads, { maxLength: 4 }), async (given) => {
        const back = await codec.decode(await codec.encode(given));
        expect(back).toHaveLength(given.length);
        for (const [i, payload] of back.entries()) {
          expect(bytes(payload)).toEqual(bytes(given[i]));
          expect(Object.keys(payload.metadata ?? {}).sort()).toEqual(
            [...Object.keys(given[i]?.metadata ?? {}), 'holdfast-sealed'].sort(),
          );
          for (const [name, value] of Object.entries(given[i]?.metadata ?? {})) {
            expect(Buffer.from(payload.metadata?.[name] ?? [])).toEqual(Buffer.from(value));
          }
        }
      }),
    );
  });

  test('writes the format that is fixed from the first release', async () => {
    const sealed = await one(codecFor(K1).encode([jsonPayload({ marker: 'MARKER' })]));
    const metadata = Object.entries(sealed.metadata ?? {}).map(([name, value]) => [name, textOf(value)]);
    expect(Object.fromEntries(metadata)).toEqual({
      encoding: 'binary/encrypted',
      'encryption-key-id': 'k1',
      'holdfast-format': '1',
      'holdfast-aad': '0',
    });
    expect(bytes(sealed).toString('latin1')).not.toContain('MARKER');
    expect(bytes(sealed).toString('latin1')).not.toContain('json/plain');
  });

  test('reads a payload of the first release', async () => {
    const recorded =
      'ivVM1TDVg+kAn0U3bBLkJ1MLht7JWpi4GtQZ4RDVVEj1OaSyvKx38O3Q1dsT7eQoOrpnDBVLhKday1lMAcX3dTcxj89x94LJWhyhRhnoB8tVYa3YG39DVS/mGkYf9w==';
    const payload = { metadata: metadataOf('k1'), data: Buffer.from(recorded, 'base64') };
    const back = await one(codecFor(K1).decode([payload]));
    expect(defaultPayloadConverter.fromPayload(back)).toEqual({ reference: 'order-1001', amount: 1095 });
  });

  test('never uses an IV twice', async () => {
    const sealed = await codecFor(K1).encode(Array.from({ length: 500 }, () => jsonPayload('same')));
    expect(new Set(sealed.map((payload) => bytes(payload).subarray(0, 12).toString('hex'))).size).toBe(500);
  });

  test('reads old payloads after a rotation, and encrypts with the new key', async () => {
    const old = await codecFor(K1).encode([jsonPayload('before')]);
    const rotated = codecFor(`k2:${key(2)},${K1}`);
    expect(defaultPayloadConverter.fromPayload(await one(rotated.decode(old)))).toBe('before');
    const sealed = await one(rotated.encode([jsonPayload('after')]));
    expect(textOf(sealed.metadata?.['encryption-key-id'])).toBe('k2');
    expect(markerOf(await one(codecFor(K1).decode([sealed])))).toEqual({
      holdfastUndecodable: 'unknown key id',
      keyId: 'k2',
    });
  });

  test('tells the key that is lacking, and the workflow, but nothing of the content', async () => {
    const warn = vi.fn();
    const codec = new EncryptionCodec(parseKeyRing(K1), { logger: { warn } });
    const sealed = await codecFor(`k2:${key(2)}`).encode([jsonPayload('content')]);
    await codec.decode(sealed, { type: 'workflow', namespace: 'default', workflowId: 'payment-order-1' });
    const fields = { reason: 'unknown key id', keyId: 'k2', workflowId: 'payment-order-1' };
    expect(warn.mock.calls).toEqual([[fields, 'Payload could not be decoded']]);
  });

  test('turns a payload with any one byte changed into a marker, and counts it', async () => {
    const codec = codecFor(K1);
    const sealed = await one(codec.encode([jsonPayload({ amount: 1095 })]));
    const length = bytes(sealed).length;
    for (let at = 0; at < length; at++) {
      const data = Buffer.from(bytes(sealed));
      data[at] = (data[at] ?? 0) ^ (1 << (at % 8));
      expect(markerOf(await one(codec.decode([{ ...sealed, data }])))).toEqual({
        holdfastUndecodable: 'authentication failed',
        keyId: 'k1',
      });
    }
    expect(codec.counts.undecodable['authentication failed']).toBe(length);
  });

  test('turns a payload cut at any length into a marker', async () => {
    const codec = codecFor(K1);
    const sealed = await one(codec.encode([jsonPayload({ amount: 1095 })]));
    for (let length = 0; length < bytes(sealed).length; length++) {
      const answer = await one(codec.decode([{ ...sealed, data: bytes(sealed).subarray(0, length) }]));
      const reason = length < 28 ? 'malformed' : 'authentication failed';
      expect(markerOf(answer)).toEqual({ holdfastUndecodable: reason, keyId: 'k1' });
    }
  });

  test('never throws on decode, whatever the bytes', async () => {
    const codec = codecFor(K1);
    const values = fc.oneof(
      fc.uint8Array({ maxLength: 60 }),
      fc.constantFrom('k1', '1', '0').map((t) => Buffer.from(t)),
    );
    const names = fc.constantFrom('encryption-key-id', 'holdfast-format', 'holdfast-aad', 'other');
    await fc.assert(
      fc.asyncProperty(
        fc.dictionary(names, values),
        fc.option(fc.uint8Array({ maxLength: 200 }), { nil: null }),
        async (metadata, data) => {
          const payload = { metadata: { ...metadata, encoding: Buffer.from('binary/encrypted') }, data };
          const answer = await one(codec.decode([payload]));
          expect(markerOf(answer)).toHaveProperty('holdfastUndecodable');
        },
      ),
    );
    const odd = [{}, { metadata: null }, { metadata: {}, data: null }] as Payload[];
    expect(await codec.decode(odd)).toEqual(odd);
  });

  test('takes the mark off what came in clear, and out of what it encrypts', async () => {
    const codec = codecFor(K1);
    const forged = {
      ...jsonPayload({ a: 1 }),
      metadata: { ...jsonPayload(1).metadata, 'holdfast-sealed': Buffer.from('1') },
    };
    expect((await one(codec.decode([forged]))).metadata).not.toHaveProperty('holdfast-sealed');
    const twice = await codec.decode(await codec.encode(await codec.decode(await codec.encode([forged]))));
    expect(payloadConverter.fromPayload((await codec.decode([forged]))[0] as Payload)).toSatisfy(
      (value) => !isSealed(value),
    );
    expect(payloadConverter.fromPayload(twice[0] as Payload)).toSatisfy(isSealed);
    expect(payloadConverter.fromPayload(twice[0] as Payload)).toEqual({ a: 1 });
  });

  test('passes payloads of other encodings through unchanged', async () => {
    const plain = [jsonPayload({ a: 1 }), jsonPayload(undefined), jsonPayload(new Uint8Array([1, 2]))];
    const answer = await codecFor(K1).decode(plain);
    answer.forEach((payload, i) => expect(payload).toBe(plain[i]));
  });

  test('alters and refuses nothing for what it reads like: only the contract knows what may stand where', async () => {
    const codec = codecFor(K1);
    await fc.assert(
      fc.asyncProperty(writtenCardNumber, async (written) => {
        const given = [
          jsonPayload({
            note: `paid by ${written}`,
            cvv: '123',
            amount: Number(written.replace(/\D/g, '')),
            [written]: 1,
          }),
          { metadata: { encoding: Buffer.from('binary/plain') }, data: Buffer.from(`note=${written};`) },
        ];
        const back = await codec.decode(await codec.encode(given));
        expect(back.map((payload) => bytes(payload).toString())).toEqual(given.map((one) => bytes(one).toString()));
      }),
      { numRuns: 200 },
    );
  });
});

function metadataOf(keyId: string): Record<string, Uint8Array> {
  const entries = {
    encoding: 'binary/encrypted',
    'encryption-key-id': keyId,
    'holdfast-format': '1',
    'holdfast-aad': '0',
  };
  return Object.fromEntries(Object.entries(entries).map(([name, value]) => [name, Buffer.from(value)]));
}
