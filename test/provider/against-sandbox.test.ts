import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { API_VERSIONS, type ApiVersion, OPERATIONS, ProviderClient } from '../../src/provider/index.js';
import { GOOD_CARD, startTestSandbox, type TestSandbox } from '../sandbox/support/sandbox.js';
import { PAYMENT_ID, failureOf } from './support/fake-service.js';

let sandbox: TestSandbox;
beforeAll(async () => {
  sandbox = await startTestSandbox();
});
afterAll(() => sandbox.close());

/** A client that notes which operations were called. */
function clientAt(apiVersion: ApiVersion): { client: ProviderClient; called: Set<string> } {
  const unit = {
    appId: 'holdfast-sandbox',
    privateKey: 'sandbox-private-key',
    publicKey: 'sandbox-public-key',
    apiVersion,
  };
  const called = new Set<string>();
  const client = new ProviderClient({ baseUrl: sandbox.url, environment: 'test', unit });
  const noting = new Proxy(client, {
    get(target, name) {
      if (name in OPERATIONS) called.add(String(name));
      const method: unknown = Reflect.get(target, name);
      return typeof method === 'function' ? (method.bind(target) as unknown) : method;
    },
  });
  return { client: noting, called };
}

const ADDRESS = { country: 'USA', city: 'Miami' };
/** 3 decimals, and above the amounts that the mock provider fails or delays. */
const AMOUNT = 109_505;
const OPTIONS = { currency: 'KWD', clientIpAddress: '203.0.113.7' };
let count = 0;

async function payAndRead(client: ProviderClient, oldest: boolean): Promise<void> {
  const newToken = async (): Promise<string> => {
    const card = {
      tokenType: 'credit_card',
      holderName: 'Ann',
      cardNumber: GOOD_CARD,
      billingAddress: ADDRESS,
    } as const;
    const { data } = await client.createToken({ ...card, expirationDate: '10/2030', creditCardCvv: '123' });
    expect(data).toMatchObject({
      type: 'tokenized',
      tokenType: 'credit_card',
      countryCode: 'USA',
      last4Digits: '1111',
    });
    expect(data).toMatchObject({ billingAddress: ADDRESS, encryptedCvv: expect.any(String) });
    expect((await client.getToken(data.token)).data.token).toBe(data.token);
    return data.token;
  };
  const newPayment = async (): Promise<string> => {
    const order = { lineItems: [{ name: 'Tea', quantity: 1, unitPrice: 9505 }] };
    const request = { amount: AMOUNT, currency: 'KWD', billingAddress: ADDRESS, order };
    const { data } = await client.createPayment(request, { idempotencyKey: `p-${(count += 1)}` });
    expect(data).toMatchObject({ ...request, status: 'Initialized' });
    return data.id;
  };
  const method = async () => ({
    paymentMethod: { type: 'tokenized' as const, token: await newToken() },
    reconciliationId: 'order-1',
  });
  const done = { status: 'Succeed', amount: AMOUNT };

  const held = await newPayment();
  const update = { amount: AMOUNT, currency: 'KWD', statementSoftDescriptor: 'SHOP' };
  expect((await client.updatePayment(held, update)).data).toMatchObject(update);
  const hold = (await client.createAuthorization(held, await method(), OPTIONS)).data;
  expect(hold).toMatchObject({
    ...done,
    reconciliationId: 'order-1',
    paymentMethod: { fingerprint: expect.any(String) },
  });
  expect((await client.getAuthorization(held, hold.id, OPTIONS)).data).toMatchObject(done);
  expect((await client.listAuthorizations(held, OPTIONS)).data).toMatchObject([done]);
  const capture = (await client.createCapture(held, { amount: 60_001 }, OPTIONS)).data;
  expect(capture).toMatchObject({ status: 'Succeed', amount: 60_001 });
  expect((await client.getCapture(held, capture.id, OPTIONS)).data.amount).toBe(60_001);
  expect((await client.listCaptures(held, OPTIONS)).data).toHaveLength(1);
  const refund = (await client.createRefund(held, { amount: 50_007, captureId: capture.id }, OPTIONS)).data;
  expect(refund).toMatchObject({ status: 'Succeed', amount: 50_007 });
  expect((await client.getRefund(held, refund.id, OPTIONS)).data.amount).toBe(50_007);
  expect((await client.listRefunds(held, OPTIONS)).data).toHaveLength(1);
  const { data: whole } = await client.getPayment(held, { expand: ['all'] });
  expect(whole.relatedResources).toMatchObject({
    authorizations: [done],
    captures: [{ amount: 60_001 }],
    refunds: [{ amount: 50_007 }],
  });

  const voided = await newPayment();
  await client.createAuthorization(voided, await method(), OPTIONS);
  const end = (await client.createVoid(voided, {}, OPTIONS)).data;
  expect(end.status).toBe('Succeed');
  expect((await client.getVoid(voided, end.id)).data.id).toBe(end.id);
  expect((await client.listVoids(voided)).data).toHaveLength(1);

  const charged = await newPayment();
  const charge = (await client.createCharge(charged, await method(), OPTIONS)).data;
  expect(charge).toMatchObject(done);
  expect((await client.getCharge(charged, charge.id, OPTIONS)).data).toMatchObject(done);
  expect((await client.listCharges(charged, OPTIONS)).data).toMatchObject([done]);

  const credited = await newPayment();
  const credit = (await client.createCredit(credited, await method(), OPTIONS)).data;
  expect(credit).toMatchObject(done);
  expect((await client.getCredit(credited, credit.id, OPTIONS)).data.amount).toBe(AMOUNT);
  expect((await client.listCredits(credited, OPTIONS)).data).toHaveLength(1);

  const redirected = await newPayment();
  if (!oldest) {
    const cash = { type: 'untokenized', sourceType: 'cash', vendor: 'OXXO' } as const;
    await client.createCharge(redirected, { paymentMethod: cash, merchantSiteUrl: 'https://shop.example' }, OPTIONS);
  }
  for (const { id } of (await client.listRedirections(redirected)).data) {
    expect((await client.getRedirection(redirected, id)).data.id).toBe(id);
  }
  expect(await failureOf(client.getRedirection(redirected, redirected))).toMatchObject({ failureType: 'NotFound' });
  expect((await client.listSupportedPaymentMethods()).data).toEqual(expect.any(Array));
}

async function keepCustomer(client: ProviderClient, version: ApiVersion): Promise<void> {
  const request = { customerReference: `ann-${version}&b=1`, email: 'ann@shop.example', shippingAddress: ADDRESS };
  const { data: customer } = await client.createCustomer(request);
  expect(customer).toMatchObject({ ...request, paymentMethods: [] });
  expect(await failureOf(client.createCustomer(request))).toMatchObject({ failureType: 'ReferenceConflict' });
  expect((await client.findCustomer(request.customerReference)).data?.id).toBe(customer.id);
  const { data: updated } = await client.updateCustomer(customer.id, { ...request, firstName: 'Ann' });
  expect(updated.firstName).toBe('Ann');
  if (version === '1.2.0' || version === '1.3.0') {
    const { data: card } = await client.createToken({
      tokenType: 'credit_card',
      holderName: 'A',
      cardNumber: GOOD_CARD,
    });
    const { data: kept } = await client.storePaymentMethod(customer.id, card.token);
    expect(kept).toMatchObject({ token: card.token, state: 'assigned', customerId: customer.id, countryCode: 'USA' });
    expect((await client.getPaymentMethod(customer.id, card.token)).data.fingerprint).toBe(kept.fingerprint);
    expect((await client.listPaymentMethods(customer.id)).data).toHaveLength(1);
    expect((await client.getCustomer(customer.id)).data.paymentMethods).toHaveLength(1);
    await client.deletePaymentMethod(customer.id, card.token);
  }
  expect((await client.getCustomer(customer.id)).data.paymentMethods).toEqual([]);
  await client.deleteCustomer(customer.id);
  expect((await client.findCustomer(request.customerReference)).data).toBeUndefined();
  expect(await failureOf(client.findCustomer('never-used'))).toMatchObject({ failureType: 'NotFound' });
  expect(await failureOf(client.getCustomer(customer.id))).toMatchObject({ failureType: 'NotFound' });
}

async function analyse(client: ProviderClient): Promise<void> {
  const order = { lineItems: [{ unitPrice: 1 }] };
  for (const [email, decision, status] of [
    ['ann@shop.example', 'approve', 'Succeed'],
    ['manual-review-hub@email.com', 'review', 'Pending'],
    ['reject-hub@email.com', 'decline', 'Failed'],
  ]) {
    const request = { amount: AMOUNT, currency: 'KWD', order, billingAddress: { email: email ?? '' } };
    const { id } = (await client.createPayment(request)).data;
    const { data: risk } = await client.createRiskAnalysis(id, { transactionType: 'charge' }, OPTIONS);
    expect(risk).toMatchObject({ decision, status, score: expect.any(Number) });
    expect((await client.getRiskAnalysis(id, risk.id)).data.decision).toBe(decision);
    expect((await client.listRiskAnalyses(id)).data).toHaveLength(1);
  }
}

const unanswered = (client: ProviderClient): Promise<unknown>[] => [
  client.createRiskAnalysis(PAYMENT_ID, {}, OPTIONS),
  client.getRiskAnalysis(PAYMENT_ID, PAYMENT_ID),
  client.listRiskAnalyses(PAYMENT_ID),
];

describe('the client and the sandbox, each written from the documentation alone, agree', () => {
  test.each(API_VERSIONS)('on every operation at %s', async (version) => {
    const { client, called } = clientAt(version);
    await payAndRead(client, version === '1.0.0');
    await keepCustomer(client, version);
    // Seen to be offered at 1.3.0 alone: an older version is told so by the service, and by nobody else.
    if (version === '1.3.0') await analyse(client);
    else for (const asked of unanswered(client)) expect(await failureOf(asked)).toMatchObject({ httpStatus: 400 });
    const at = API_VERSIONS.indexOf(version);
    const expected = Object.entries(OPERATIONS).filter(([, { since }]) => API_VERSIONS.indexOf(since) <= at);
    expect([...called].toSorted()).toEqual(expected.map(([name]) => name).toSorted());
    await client.close();
  });

  test.each(API_VERSIONS)(
    'that risk is analysed at %s by a service that does what the interface says',
    async (version) => {
      await sandbox.control.putBusinessUnit({ app_id: 'holdfast-sandbox', profile: { reading: 'interface' } });
      const { client, called } = clientAt(version);
      await analyse(client);
      expect([...called].filter((name) => name.includes('Risk'))).toHaveLength(3);
      await client.close();
      await sandbox.control.putBusinessUnit({ app_id: 'holdfast-sandbox', profile: { reading: 'observed' } });
    },
  );

  test.each(API_VERSIONS)('on refusals at %s', async (version) => {
    const { client } = clientAt(version);
    const { data } = await client.createPayment({ amount: AMOUNT, currency: 'KWD' });
    for (const call of [client.createCapture(data.id), client.createVoid(data.id), client.createRefund(data.id)]) {
      expect(await failureOf(call)).toMatchObject({
        failureType: 'StateConflict',
        httpStatus: 409,
        category: 'api_request_error',
        moreInfo: 'Please check the current state of the payment.',
        requestId: expect.any(String),
      });
    }
    expect(await failureOf(client.getPayment(PAYMENT_ID))).toMatchObject({ failureType: 'NotFound', httpStatus: 404 });
    const unknown = { paymentMethod: { type: 'tokenized', token: PAYMENT_ID } } as const;
    expect(await failureOf(client.createCharge(data.id, unknown))).toMatchObject({
      failureType: 'InvalidInput',
      httpStatus: 400,
      moreInfo: 'Token does not exist.',
    });
    await client.close();
  });
});
