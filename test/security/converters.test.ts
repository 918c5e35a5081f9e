import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { Client } from '@temporalio/client';
import { ApplicationFailure, type Payload } from '@temporalio/common';
import { bundleWorkflowCode } from '@temporalio/worker';
import fc from 'fast-check';
import { isUndecodable, SEALED_METADATA, undecodable, UNDECODABLE_REASONS } from '../../src/contract/payload-marks.js';
import { converterPaths, createDataConverter } from '../../src/security/data-converter.js';
import { failureConverter } from '../../src/security/failure-converter.js';
import { parseKeyRing } from '../../src/security/key-ring.js';
import { payloadConverter as ownPayloadConverter } from '../../src/security/own-payload-converter.js';
import { payloadConverter } from '../../src/security/payload-converter.js';

const payload = (encoding: string, data: string): Payload => ({
  metadata: { encoding: Buffer.from(encoding) },
  data: Buffer.from(data),
});

/** What bytes of an encoding say; of bytes that say nothing, why not. */
function readingOf(encoding: string, data: Uint8Array): unknown {
  if (encoding === 'binary/null') return undefined;
  if (encoding === 'binary/plain') return data;
  if (encoding !== 'json/plain') return { holdfastUndecodable: 'unknown encoding' };
  try {
    return JSON.parse(Buffer.from(data).toString());
  } catch {
    return { holdfastUndecodable: 'malformed' };
  }
}

describe('payloadConverter', () => {
  test('refunds every JSON value as it was', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const expected: unknown = JSON.parse(JSON.stringify(value));
        expect(payloadConverter.fromPayload(payloadConverter.toPayload(value))).toEqual(expected);
      }),
    );
    expect(payloadConverter.fromPayload(payloadConverter.toPayload(undefined))).toBeUndefined();
  });

  test.each([
    [payload('json/plain', '{bad'), 'malformed'],
    [payload('json/plain', ''), 'malformed'],
    [payload('json/protobuf', '{}'), 'unknown encoding'],
    [payload('binary/encrypted', 'x'), 'unknown encoding'],
    [{ data: Buffer.from('{}') }, 'malformed'],
    [{ metadata: {} }, 'malformed'],
    [{}, 'malformed'],
  ])('makes a marker of %j, so that no message can fail a workflow task', (unreadable, reason) => {
    const value = payloadConverter.fromPayload(unreadable as Payload);
    expect(isUndecodable(value)).toBe(true);
    expect(value).toEqual({ holdfastUndecodable: reason });
  });

  test('reads any bytes as what they say or as a marker, and never throws', () => {
    const encodings = fc.oneof(fc.constantFrom('json/plain', 'binary/plain', 'binary/null'), fc.string());
    fc.assert(
      fc.property(encodings, fc.uint8Array({ maxLength: 100 }), (encoding, data) => {
        const value = payloadConverter.fromPayload({ metadata: { encoding: Buffer.from(encoding) }, data });
        expect(value).toEqual(readingOf(encoding, data));
      }),
    );
  });
});

describe('the payload converter of merchants', () => {
  const sealed = (marker: object): Payload => ({
    metadata: { encoding: Buffer.from('json/plain'), [SEALED_METADATA]: Buffer.from('1') },
    data: Buffer.from(JSON.stringify(marker)),
  });
  const ELSEWHERE = ['unknown key id', 'authentication failed', 'unknown format'];

  test.each(UNDECODABLE_REASONS)('leaves to another worker what only another may be able to decode: %s', (reason) => {
    const read = () => ownPayloadConverter.fromPayload(sealed(undecodable(reason, 'k2')));
    if (ELSEWHERE.includes(reason)) expect(read).toThrow(`can't decode a payload (${reason}`);
    else expect(isUndecodable(read())).toBe(true);
  });

  test('reads everything else as Holdfast does: nothing that anybody can send fails a task for ever', () => {
    const forged = payload('json/plain', JSON.stringify(undecodable('unknown key id', 'k2')));
    for (const sent of [
      forged,
      payload('garbage', '?'),
      payload('json/plain', '{bad'),
      payload('json/plain', '[1]'),
      {},
    ])
      expect(ownPayloadConverter.fromPayload(sent)).toEqual(payloadConverter.fromPayload(sent));
    expect(ownPayloadConverter.toPayload([1])).toEqual(payloadConverter.toPayload([1]));
  });
});

describe('failureConverter', () => {
  test('hides message and stack in a payload and gives them back', () => {
    const failure = failureConverter.errorToFailure(
      ApplicationFailure.nonRetryable('MARKER message', 'InvalidInput'),
      payloadConverter,
    );
    const { encodedAttributes, ...visible } = failure;
    expect(JSON.stringify(visible)).not.toContain('MARKER');
    expect(Buffer.from(encodedAttributes?.data ?? []).toString()).toContain('MARKER');
    expect(failureConverter.failureToError(failure, payloadConverter).message).toBe('MARKER message');
  });

  test('reads a failure whose hidden part is undecodable', () => {
    const failure = failureConverter.errorToFailure(ApplicationFailure.nonRetryable('m', 'NotFound'), payloadConverter);
    const broken = { ...failure, encodedAttributes: payload('json/plain', '{bad') };
    expect(failureConverter.failureToError(broken, payloadConverter)).toMatchObject({ type: 'NotFound' });
  });
});

describe('createDataConverter', () => {
  const dataConverter = createDataConverter(parseKeyRing(`k1:${Buffer.alloc(32, 1).toString('base64')}`));

  test('is loaded by the SDK from sources', () => {
    expect(() => new Client({ connection: {} as never, dataConverter })).not.toThrow();
  });

  test('bundles into workflows without anything of Node', async () => {
    const contract = fileURLToPath(new URL('../../src/contract/payload-marks.ts', import.meta.url));
    const logger = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error() {} };
    const { code } = await bundleWorkflowCode({ workflowsPath: contract, ...converterPaths(), logger });
    expect(code).toContain('holdfastUndecodable');
    expect(code).not.toContain('createCipheriv');
  });
});
