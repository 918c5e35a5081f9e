import { randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { expect, test } from 'vitest';
import { HoldfastClient } from '../../src/client/holdfast-client.js';
import { newReference } from '../support/charges.js';
import { testDataConverter } from '../support/data-converter.js';

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
