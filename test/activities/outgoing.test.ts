import { expect, test } from 'vitest';
import type { CountOutgoing, OutgoingCall } from '../../src/contract/outgoing.js';
import { type Answer, CHARGE_BODY, fakeService, json, PAYMENT_ID } from '../provider/support/fake-service.js';
import { Harness } from './support.js';

const CALL: OutgoingCall = {
  businessUnit: 'default',
  key: 'actions-order-1:createRefund:1',
  operation: 'refund',
  paymentId: PAYMENT_ID,
  amount: 500,
  currency: 'USD',
  day: '2027-02-01',
};

/** What the counter of a unit with `refundsPerCard` is asked, or how the attempt fails. */
async function counted(ofCharges: Answer) {
  const asked: CountOutgoing[] = [];
  const countOutgoing = async (_day: unknown, one: CountOutgoing) => {
    asked.push(one);
    return { counted: true } as const;
  };
  const stub = await fakeService(ofCharges);
  const terms = { outgoing: { refundsPerCard: 3, approveWithinMs: 86_400_000 } };
  const harness = new Harness({ baseUrl: stub.url, engine: { countOutgoing }, terms });
  const failed = await harness.run('countOutgoing', CALL).then(
    () => undefined,
    () => harness.fail('countOutgoing', CALL),
  );
  await harness.close();
  await stub.close();
  return { card: asked[0]?.card, failed };
}

const shown = (fingerprint?: string): Answer =>
  json(200, [{ ...CHARGE_BODY, ...(fingerprint !== undefined && { payment_method: { fingerprint } }) }]);

test('refunds of a card are counted by its payment where the service offers no list of what shows the card', async () => {
  const { card } = await counted(shown());
  expect(card).toEqual(expect.any(String));
  const own = { category: 'api_request_error', description: 'Path not found' };
  for (const refused of [json(404, own), json(405, {}), json(501, {})])
    expect(await counted(refused)).toEqual({ card, failed: undefined });
  const { card: other } = await counted(shown('fingerprint-1'));
  expect(other).not.toBe(card);
});

test('refunds of a card are not counted by its payment for a 404 that may be that of a proxy: it is asked again', async () => {
  const ofProxy: Answer = (response) => void response.writeHead(404).end('<html>');
  for (const answer of [ofProxy, json(404, {})]) {
    const { card, failed } = await counted(answer);
    expect(card).toBeUndefined();
    expect(failed).toMatchObject({ type: 'ProviderUnavailable', retryable: true, details: { httpStatus: 404 } });
  }
});
