import { afterAll, beforeAll, expect, test } from 'vitest';
import { Client, Connection } from '@temporalio/client';
import { createBillingPort } from '../../src/client/billing-port.js';
import { type Link, openLink } from '../support/link.js';
import { claimNamespace, temporalAddress } from '../support/temporal.js';

let link: Link;
let connection: Connection;
let refund: ReturnType<typeof createBillingPort>['refund'];
beforeAll(async () => {
  link = await openLink(await temporalAddress());
  // Without retries: an engine that is gone is gone at once.
  connection = await Connection.connect({ address: link.address, interceptors: [] });
  ({ refund } = createBillingPort(new Client({ connection, namespace: await claimNamespace() })));
});
afterAll(async () => {
  await connection?.close();
  link?.cut();
});

const of = { payment: 'club-7.1.1', paymentId: undefined, currency: 'EUR', businessUnit: 'default' };
const call = { ...of, commandId: 'a', amount: undefined };

test('a refund that the engine refuses is refused', async () => {
  expect(await refund(call)).toEqual({ refused: expect.stringContaining('club-7.1.1') });
});

test('an engine that does not answer has refused nothing', async () => {
  link.cut();
  await expect(refund(call)).rejects.toMatchObject({ type: 'EngineUnavailable' });
});
