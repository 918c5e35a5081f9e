import { describe, expect, test, vi } from 'vitest';
import { defaultPayloadConverter, type Payload, type SerializationContext } from '@temporalio/common';
import fc from 'fast-check';
import { isRefusedInClear, isSealed, isUndecodable } from '../../src/contract/payload-marks.js';
import { parseKeyRing } from '../../src/security/key-ring.js';
import { EncryptionCodec } from '../../src/security/payload-codec.js';
import { payloadConverter } from '../../src/security/payload-converter.js';

const KEYS = parseKeyRing(`k1:${Buffer.alloc(32, 1).toString('base64')}`);
const codec = new EncryptionCodec(KEYS);

const REFUND = { commandId: 'r', amount: 2_000 };
const payloadOf = (value: unknown): Payload => defaultPayloadConverter.toPayload(value);
const flow = (workflowId: string): SerializationContext => ({ type: 'workflow', namespace: 'default', workflowId });
const activity = (workflowId?: string): SerializationContext => ({
  type: 'activity',
  namespace: 'default',
  activityId: '7',
  isLocal: false,
  ...(workflowId !== undefined && { workflowId }),
});

/** Without the SDK's type, which has every codec take a context. */
async function encrypted(context?: SerializationContext, value: unknown = REFUND): Promise<Payload> {
  const [payload] = await codec.encode([payloadOf(value)], context);
  if (payload === undefined) throw new Error('no payload came back');
  return payload;
}

async function read(payload: Payload, context?: SerializationContext, by = codec) {
  const [decoded] = await by.decode([payload], context);
  const value: unknown = payloadConverter.fromPayload(decoded as Payload);
  return { value, isSealed: isSealed(value), isRefused: isRefusedInClear(value), metadata: decoded?.metadata ?? {} };
}

const A = 'payment-actions-a';
const B = 'payment-actions-b';

describe('a payload that was encrypted for a flow', () => {
  test.each([
    ['by the flow itself', flow(A)],
    ['by an activity of it', activity(A)],
    ['by who knows no flow, as the codec server', undefined],
    ['in another namespace, as a replay of a copied history has it', { ...flow(A), namespace: 'another' }],
  ])('is ours when it is read %s, and shows no trace of the flow', async (_who, context) => {
    for (const by of [flow(A), activity(A)]) {
      const { value, isSealed, metadata } = await read(await encrypted(by), context);
      expect([value, isSealed]).toEqual([REFUND, true]);
      expect(Object.keys(metadata).toSorted()).toEqual(['encoding', 'holdfast-sealed']);
    }
    expect(codec.counts.otherFlow).toBe(0);
  });

  test.each([
    ['flow', flow(B)],
    ["flow's activity", activity(B)],
    ['activity, of no workflow,', activity()],
  ])('counts as one in clear when another %s reads it, is counted, and told', async (_who, context) => {
    const warn = vi.fn();
    const other = new EncryptionCodec(KEYS, { logger: { warn } });
    const refusing = new EncryptionCodec(KEYS, { refusesClear: true });
    const copied = await encrypted(flow(A));
    expect(await read(copied, context, other)).toMatchObject({ value: REFUND, isSealed: false, isRefused: false });
    expect(await read(copied, context, refusing)).toMatchObject({ value: REFUND, isSealed: false, isRefused: true });
    // It can be decoded, so that no flow is held up by it.
    expect((await read(copied, context)).value).not.toSatisfy(isUndecodable);
    expect(other.counts).toEqual({ undecodable: codec.counts.undecodable, otherFlow: 1 });
    const message = 'A payload was encrypted for another flow: it counts as one in clear';
    const workflowId = context.workflowId ?? 'activity/7';
    expect(warn.mock.calls).toEqual([[{ workflowId, encryptedFor: A }, message]]);
  });

  test('stays of its flow whatever its metadata say, which anybody can write', async () => {
    const { metadata, data } = await encrypted(flow(A));
    for (const said of [{ 'holdfast-flow': B }, { 'holdfast-sealed': '1' }]) {
      const more = Object.fromEntries(Object.entries(said).map(([name, text]) => [name, Buffer.from(text)]));
      const copied = { metadata: { ...metadata, ...more }, data: data as Uint8Array };
      expect(await read(copied, flow(B))).toMatchObject({ value: REFUND, isSealed: false });
      expect(await read(copied, flow(A))).toMatchObject({ value: REFUND, isSealed: true });
    }
  });

  test('never becomes one of another flow, or of none, by changed bytes', async () => {
    const { metadata, data } = await encrypted(flow(A));
    for (let bit = 0; bit < (data?.length ?? 0) * 8; bit += 1) {
      const changed = Buffer.from(data as Uint8Array);
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      const { value } = await read({ ...(metadata && { metadata }), data: changed }, flow(B));
      expect(value).toEqual({ holdfastUndecodable: 'authentication failed', keyId: 'k1' });
    }
  });

  test('is of the flow that it is encrypted for, not of one that it was read in or that it names itself', async () => {
    const named = {
      ...payloadOf(REFUND),
      metadata: { ...payloadOf(REFUND).metadata, 'holdfast-flow': Buffer.from(B) },
    };
    const [forA = {}] = await codec.encode([named], flow(A));
    expect((await read(forA, flow(A))).isSealed).toBe(true);
    expect((await read(forA, flow(B))).isSealed).toBe(false);
    const [ofNone = {}] = await codec.encode([named]);
    expect((await read(ofNone, flow(A))).isSealed).toBe(true);
  });

  test('is compared as it is, whatever characters the workflow ids have', async () => {
    const id = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 });
    await fc.assert(
      fc.asyncProperty(id, id, async (one, other) => {
        fc.pre(one !== other && !/-\d{4}-/.test(one + other));
        const payload = await encrypted(flow(one));
        expect((await read(payload, flow(one))).isSealed).toBe(true);
        expect((await read(payload, flow(other))).isSealed).toBe(false);
      }),
    );
  });
});

describe('a payload that was encrypted by who knew no flow', () => {
  test.each([undefined, { ...flow(A), workflowId: '' }])('is ours in every flow: %o', async (context) => {
    const payload = await encrypted(context);
    for (const reader of [undefined, flow(A), flow(B), activity(B)])
      expect(await read(payload, reader)).toMatchObject({ value: REFUND, isSealed: true });
  });
});

test('what an activity of no workflow answers is of no flow, and its own client reads it', async () => {
  const payload = await encrypted(activity());
  expect((await read(payload, activity())).isSealed).toBe(true);
  for (const reader of [flow(A), activity(A)]) expect((await read(payload, reader)).isSealed).toBe(false);
});

describe('workflows that a schedule starts, whose ids end with a time', () => {
  const ONE = 'nightly-2026-11-28T03:17:00Z';
  const OTHER = 'nightly-2026-11-29T03:17:00Z';
  test.each([
    ['the schedule', 'nightly', ONE, true],
    ['another of them', OTHER, ONE, true],
    ['a schedule whose own id ends with a time', ONE, `${ONE}-2026-11-30T03:17:00Z`, true],
    // Anybody can start a workflow of such an id, and have our workers encrypt for it.
    ['one of them, read by the schedule', ONE, 'nightly', false],
    ['one of them, read by what it might have started', `${ONE}-2026-11-30T03:17:00Z`, ONE, false],
  ])('read what was encrypted for %s', async (_what, writer, reader, isOurs) => {
    expect((await read(await encrypted(flow(writer)), flow(reader))).isSealed).toBe(isOurs);
  });

  test.each(['nightly-2026-11-28', 'nightly-2026-11-28T03:17:00Z-x', 'hourly-2026-11-28T03:17:00Z'])(
    'are no others: %s',
    async (other) => {
      expect((await read(await encrypted(flow('nightly')), flow(other))).isSealed).toBe(false);
      expect((await read(await encrypted(flow(other)), flow('nightly'))).isSealed).toBe(false);
    },
  );
});
