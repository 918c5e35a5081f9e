import { afterAll, beforeAll, describe, expect, expectTypeOf, test } from 'vitest';
import {
  API_VERSIONS,
  type ApiVersion,
  type CallOptions,
  type CaptureRequest,
  type ChargeRequest,
  type GetPaymentOptions,
  type OperationName,
  OPERATIONS,
  type PostOptions,
  ProviderClient,
  type TransactionOptions,
} from '../../src/provider/index.js';
import { FAILURE_TYPES } from '../../src/contract/names.js';
import { EXAMPLES, OPTIONS, wireOf } from './support/examples.js';
import { type Answer, failureOf, fakeService, type FakeService, json, PRIVATE_KEY } from './support/fake-service.js';

const PUBLIC_KEY = 'public-key-of-the-test';
let answer: Answer;
let service: FakeService;
const clients = new Map<ApiVersion, ProviderClient>();

beforeAll(async () => {
  service = await fakeService((response, request) => answer(response, request));
  for (const apiVersion of API_VERSIONS) {
    const unit = { appId: 'app.test', privateKey: PRIVATE_KEY, publicKey: PUBLIC_KEY, apiVersion };
    clients.set(apiVersion, new ProviderClient({ baseUrl: service.url, environment: 'test', unit }));
  }
});
afterAll(async () => {
  await Promise.all([...clients.values()].map((client) => client.close()));
  await service.close();
});

const names = Object.keys(OPERATIONS) as OperationName[];
const existsAt = (name: OperationName, version: ApiVersion): boolean =>
  API_VERSIONS.indexOf(version) >= API_VERSIONS.indexOf(OPERATIONS[name].since);
const everyCall = names.flatMap((name) => API_VERSIONS.map((version): [OperationName, ApiVersion] => [name, version]));
const calls = everyCall.filter(([name, version]) => existsAt(name, version));

test('every operation of the interface is in the table and is a method of the client', () => {
  const kinds = ['Authorization', 'Charge', 'Capture', 'Credit', 'Void', 'Refund', 'RiskAnalysis'];
  const lists = kinds.map((kind) => (kind === 'RiskAnalysis' ? 'listRiskAnalyses' : `list${kind}s`));
  const expected = [
    ...kinds.flatMap((kind) => [`create${kind}`, `get${kind}`]),
    ...lists,
    ...['createPayment', 'getPayment', 'updatePayment', 'getRedirection', 'listRedirections'],
    ...['createCustomer', 'getCustomer', 'findCustomer', 'updateCustomer', 'deleteCustomer'],
    ...['storePaymentMethod', 'getPaymentMethod', 'listPaymentMethods', 'deletePaymentMethod'],
    ...['createToken', 'getToken', 'listSupportedPaymentMethods'],
  ];
  expect([...names].toSorted()).toEqual(expected.toSorted());
  const methods = Object.getOwnPropertyNames(ProviderClient.prototype);
  expect(methods.filter((name) => !['constructor', 'close'].includes(name)).toSorted()).toEqual(expected.toSorted());
});

test('a method takes the parameters of its path, then the request, then its own options', () => {
  type Given<Name extends OperationName> = Parameters<ProviderClient[Name]>;
  expectTypeOf<Given<'getCharge'>>().toEqualTypeOf<[string, string, (CallOptions | undefined)?]>();
  expectTypeOf<Given<'getPayment'>>().toEqualTypeOf<[string, (GetPaymentOptions | undefined)?]>();
  expectTypeOf<Given<'createCharge'>>().toEqualTypeOf<[string, ChargeRequest, (TransactionOptions | undefined)?]>();
  expectTypeOf<Given<'createCapture'>>().toEqualTypeOf<
    [string, (CaptureRequest | undefined)?, (PostOptions | undefined)?]
  >();
  expectTypeOf<Given<'storePaymentMethod'>>().toEqualTypeOf<[string, string, (PostOptions | undefined)?]>();
});

test.each(calls)('%s at %s has its path, headers and body, and its answer comes back in one shape', async (...call) => {
  const [name, version] = call;
  const row = OPERATIONS[name];
  const example = EXAMPLES[name];
  const wire = wireOf(version);
  answer = example.answer === undefined ? (response) => response.writeHead(204).end() : json(200, example.answer(wire));
  const got = await example.call(clients.get(version)!);
  const seen = service.requests.at(-1)!;
  expect(`${seen.method} ${seen.url}`).toBe(`${row.method} ${example.path}`);
  const headers = Object.entries(seen.headers).filter(([header]) => !['host', 'connection'].includes(header));
  expect(Object.fromEntries(headers)).toEqual({
    'content-type': 'application/json',
    accept: 'application/json',
    'api-version': version,
    'x-svc-env': 'test',
    'app-id': 'app.test',
    ...(name === 'createToken' ? { 'public-key': PUBLIC_KEY } : { 'private-key': PRIVATE_KEY }),
    ...(row.method === 'POST' && { 'idempotency-key': OPTIONS.idempotencyKey }),
    ...(/^create(Authorization|Charge|RiskAnalysis)$/.test(name) && { 'x-client-ip-address': '203.0.113.7' }),
    ...(['POST', 'PUT'].includes(row.method) && { 'content-length': String(Buffer.byteLength(seen.body)) }),
  });
  expect(seen.body === '' ? undefined : JSON.parse(seen.body)).toEqual(example.body?.(wire));
  expect(got.data).toEqual(example.data);
});

test.each(everyCall.filter(([name, version]) => !existsAt(name, version)))(
  '%s at %s is refused before anything is sent, since that version has no such call',
  async (name, version) => {
    const before = service.requests.length;
    const error = await failureOf(EXAMPLES[name].call(clients.get(version)!));
    expect(error).toMatchObject({ kind: 'request', failureType: 'InvalidInput', mayHaveLeft: false });
    const { since } = OPERATIONS[name];
    const rule = `unit.apiVersion: ${version} has no ${name}, which came with API version ${since}`;
    expect(error.faults?.[0]).toBe(rule);
    expect(service.requests.length).toBe(before);
  },
);

test('cards are stored since 1.2.0, and everything else exists at every version', () => {
  const since = (version: ApiVersion): string[] => names.filter((name) => OPERATIONS[name].since === version);
  expect(since('1.3.0')).toEqual([]);
  expect(since('1.2.0').toSorted()).toEqual([
    'deletePaymentMethod',
    'getPaymentMethod',
    'listPaymentMethods',
    'storePaymentMethod',
  ]);
  expect(since('1.1.0')).toEqual([]);
});

describe('failures', () => {
  test.each(names)(
    '%s: each documented status has a type at each version, and keeps what the service said',
    async (name) => {
      const body = { category: 'api_request_error', description: 'No.', more_info: 'Because.' };
      const types = new Set<string>(Object.values(FAILURE_TYPES));
      for (const version of API_VERSIONS.filter((each) => existsAt(name, each))) {
        const failures = Object.entries(OPERATIONS[name].failures(version));
        expect(failures.length).toBeGreaterThan(4);
        for (const [status, failureType] of failures) {
          expect(types).toContain(failureType);
          answer = json(Number(status), body);
          expect(await failureOf(EXAMPLES[name].call(clients.get(version)!))).toMatchObject({
            kind: 'http',
            operation: name,
            httpStatus: Number(status),
            failureType,
            requestId: 'req-1',
            category: 'api_request_error',
            description: 'No.',
            moreInfo: 'Because.',
          });
        }
      }
    },
  );

  test('a provider that is away is a 504 at 1.0.0 alone, and means the same', () => {
    for (const name of [
      'createAuthorization',
      'createCharge',
      'createVoid',
      'createCapture',
      'createRefund',
    ] as const) {
      const { failures } = OPERATIONS[name];
      expect(failures('1.0.0')[504]).toBe('ProviderUnavailable');
      for (const version of API_VERSIONS.slice(1)) {
        expect(failures(version)[503]).toBe('ProviderUnavailable');
        expect(failures(version)).not.toHaveProperty('504');
      }
    }
  });

  test('a taken customer reference is another failure than a payment in the wrong state', () => {
    expect(OPERATIONS.createCustomer.failures('1.3.0')[409]).toBe('ReferenceConflict');
    expect(OPERATIONS.createCapture.failures('1.3.0')[409]).toBe('StateConflict');
    expect(OPERATIONS.getCharge.failures('1.3.0')).not.toHaveProperty('409');
  });

  test.each(calls.filter(([name]) => OPERATIONS[name].method !== 'DELETE'))(
    '%s at %s takes a 2xx that fits no schema for unexpected',
    async (name, version) => {
      for (const body of ['{}', '[{}]', '', 'null', '"x"', '{"id"']) {
        if (body === '[{}]' && name === 'listSupportedPaymentMethods') continue;
        answer = json(200, body);
        const error = await failureOf(EXAMPLES[name].call(clients.get(version)!));
        expect(error).toMatchObject({ kind: 'unexpected', failureType: 'UnexpectedResponse', httpStatus: 200 });
      }
    },
  );
});

test('an AbortSignal stops each call', async () => {
  answer = () => undefined;
  for (const name of names) {
    const stop = new AbortController();
    const call = callWith(name, clients.get('1.3.0')!, stop.signal);
    const failure = failureOf(call);
    stop.abort();
    expect((await failure).code).toBe('ABORTED');
  }
});

/** Every method takes its options last. */
function callWith(name: OperationName, client: ProviderClient, signal: AbortSignal): Promise<unknown> {
  const recorded: unknown[] = [];
  const spy = new Proxy(client, {
    get: (target, method) =>
      typeof method === 'string' && method in OPERATIONS
        ? (...given: unknown[]) => {
            recorded.push(...given.slice(0, -1), { ...(given.at(-1) as object), signal });
            const call = Reflect.get(target, method) as (...all: unknown[]) => Promise<unknown>;
            return call.apply(target, recorded);
          }
        : undefined,
  });
  return EXAMPLES[name].call(spy);
}
