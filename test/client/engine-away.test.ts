import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { connectHoldfast } from '../../src/client/connect.js';
import { HoldfastError } from '../../src/client/errors.js';
import { connectEventSink } from '../../src/client/event-sink.js';
import { HoldfastClient } from '../../src/client/holdfast-client.js';
import { GOLDEN_ENCRYPTION_KEYS } from '../replay/golden-key.js';
import { newReference } from '../support/charges.js';
import { testDataConverter } from '../support/data-converter.js';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
});

test('a caller whose engine is away is told that the flow may have started, and how to ask', async () => {
  const connection = Connection.lazy({ address: '127.0.0.1:1' });
  const nobody = new HoldfastClient(new Client({ connection, dataConverter: testDataConverter() }));
  const input = {
    reference: newReference(),
    amount: 1095,
    currency: 'USD',
    paymentMethod: { type: 'tokenized', token: randomUUID() },
  };
  await expect(nobody.charge(input as never, { waitFor: 300 })).rejects.toMatchObject({
    type: 'EngineUnavailable',
    message: expect.stringMatching(/may have started.*same reference.*Never repeat it under a new reference/s),
  });
  await nobody.close();
});

const NOBODY = { address: '127.0.0.1:1', dataConverter: testDataConverter() };

test('who connects while Temporal is away is told why, and what to look at', async () => {
  // After 10 seconds.
  vi.spyOn(Connection.prototype, 'ensureConnected').mockRejectedValue(
    new Error('Failed to connect before the deadline'),
  );
  const close = vi.spyOn(Connection.prototype, 'close');
  const failure: unknown = await connectHoldfast(NOBODY).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(HoldfastError);
  expect(failure).toMatchObject({
    type: 'EngineUnavailable',
    message: expect.stringMatching(/cannot be reached \(.*ECONNREFUSED.*\): check that it runs, and TEMPORAL_ADDRESS/),
  });
  expect(close).toHaveBeenCalledOnce();
});

test('a misspelt environment is refused before anything is connected', async () => {
  const connect = vi.spyOn(Connection.prototype, 'ensureConnected');
  await expect(connectHoldfast({ ...NOBODY, environment: 'Live' as 'live' })).rejects.toMatchObject({
    name: 'HoldfastError',
    type: 'InvalidInput',
    message: 'HOLDFAST_ENVIRONMENT="Live": write "test" or "live"',
  });
  expect(connect).not.toHaveBeenCalled();
});

test('a data converter whose answers could not be believed is refused before anything is connected', async () => {
  const connect = vi.spyOn(Connection.prototype, 'ensureConnected');
  await expect(connectHoldfast({ address: NOBODY.address, dataConverter: {} })).rejects.toMatchObject({
    type: 'InvalidInput',
    message: expect.stringContaining('is not marked as encrypted'),
  });
  expect(connect).not.toHaveBeenCalled();
});

describe('settings of Temporal that can not be read', () => {
  const FAULTS: [string, string, string][] = [
    ['TEMPORAL_PROFILE', 'misspelt', "Profile 'misspelt' not found"],
    ['TEMPORAL_TLS_CLIENT_CERT_PATH', '/nowhere.pem', '/nowhere.pem'],
    ['TEMPORAL_CONFIG_FILE', '/nowhere.toml', 'TEMPORAL_CONFIG_FILE="/nowhere.toml": there is no such file'],
  ];

  test.each(FAULTS)('refuse a client, by what is wrong with %s', async (name, value, why) => {
    vi.stubEnv(name, value);
    await expect(connectHoldfast({ encryptionKeys: GOLDEN_ENCRYPTION_KEYS })).rejects.toMatchObject(refusal(why));
  });

  test.each(FAULTS)('refuse an event sink, by what is wrong with %s', (name, value, why) => {
    vi.stubEnv(name, value);
    const connect = () => connectEventSink({ encryptionKeys: GOLDEN_ENCRYPTION_KEYS });
    expect(connect).toThrow(expect.objectContaining(refusal(why)));
  });
});

test('an event sink with a misspelt environment is refused', () => {
  const connect = () =>
    connectEventSink({
      encryptionKeys: GOLDEN_ENCRYPTION_KEYS,
      environment: 'Live' as 'live',
      address: NOBODY.address,
    });
  expect(connect).toThrow(expect.objectContaining(refusal('HOLDFAST_ENVIRONMENT="Live": write "test" or "live"')));
});

function refusal(why: string) {
  return { name: 'HoldfastError', type: 'InvalidInput', message: expect.stringContaining(why) as string };
}
