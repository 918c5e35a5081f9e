import { describe, expect, test } from 'vitest';
import { checkNamespace } from '../../src/client/namespace.js';
import { otherEnvironment } from '../../src/client/environment-mark.js';
import { ALL_ATTRIBUTES, grpcError, namespaceServer, type NamespaceServer } from './namespace-server.js';

const faultsOf = async (given: Partial<NamespaceServer>, environment: 'test' | 'live' = 'test') =>
  (await checkNamespace(namespaceServer(given).connection, 'shop', environment)).faults;

const without = (name: string, type?: string) => {
  const attributes = new Map(ALL_ATTRIBUTES);
  attributes.delete(name);
  if (type !== undefined) attributes.set(name, type);
  return attributes;
};
const live = (days: number) => ({ namespace: { days, data: { 'holdfast-environment': 'live' } } });

describe('what a process must not work in', () => {
  test('is no namespace that setup has made', async () => {
    expect(await faultsOf({})).toEqual([]);
    expect(await faultsOf({ namesColumns: false })).toEqual([]);
    expect(await faultsOf(live(30), 'live')).toEqual([]);
  });

  test.each<[string, Partial<NamespaceServer>, RegExp, ('test' | 'live')?]>([
    [
      'none of that name',
      { namespace: undefined },
      /^there is no namespace "shop": run holdfast setup.*TEMPORAL_NAMESPACE/,
    ],
    ['one of the other environment', live(365), /"shop" is one for "live".*HOLDFAST_ENVIRONMENT="test".*Use another/],
    [
      'one without a mark',
      { namespace: { days: 365, data: {} } },
      /marked neither.*run holdfast setup with HOLDFAST_ENV/,
    ],
    [
      'one that soon forgets live money',
      live(29.5),
      /closed flows for 29.5 days only.*at least 30 days.*setup/,
      'live',
    ],
    [
      'one that lacks a search attribute',
      { attributes: without('DueAt') },
      /lacks search attributes \(DueAt=Datetime\)/,
    ],
    [
      'one where it has another type',
      { attributes: without('AmountMinor', 'DATETIME') },
      /AmountMinor of type DATETIME.*of type INT.*remove/,
    ],
    [
      'one where a text would do as well',
      { attributes: without('DueAt', 'KEYWORD') },
      /DueAt of type KEYWORD.*of type DATETIME/,
    ],
    ['an old server', { version: '1.30.7' }, /has version 1\.30\.7.*needs 1\.31 or later: update/],
    [
      'a login that is refused',
      { fault: grpcError(16, 'Jwt is expired') },
      /refuses this login.*Jwt is expired.*TEMPORAL_API_KEY/,
    ],
    ['a server that is away', { fault: grpcError(4, 'Deadline exceeded') }, /cannot be reached.*TEMPORAL_ADDRESS/],
  ])('is %s', async (_what, given, sentence, environment = 'test') => {
    const faults = await faultsOf(given, environment);
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(sentence);
  });

  test('is a server that answers with an error, whatever keeps a further connection from being made', async () => {
    const why = () => Promise.resolve('https_proxy sends this connection by a proxy');
    const askedOf = async (code: number, details: string) =>
      (await checkNamespace(namespaceServer({ fault: grpcError(code, details) }).connection, 'shop', 'test', { why }))
        .faults[0];
    expect(await askedOf(8, 'namespace rate limit exceeded')).toMatch(/\(namespace rate limit exceeded\)/);
    expect(await askedOf(14, 'No connection established')).toMatch(/\(https_proxy sends this connection by a proxy\)/);
  });

  test('is said with every fault at once', async () => {
    const given = { namespace: { days: 7, data: {} }, attributes: without('Currency'), version: '1.29.0' };
    expect(await faultsOf(given, 'live')).toHaveLength(4);
  });

  test('is no namespace for test that soon forgets, but a warning says so', async () => {
    const { connection } = namespaceServer({ namespace: { days: 1, data: { 'holdfast-environment': 'test' } } });
    const { faults, warnings } = await checkNamespace(connection, 'shop', 'test');
    expect(faults).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('for 1 days only')]);
  });

  test.each([
    [14, 'no Elasticsearch node available', /does not answer \(no Elasticsearch node available\)/],
    [8, 'namespace rate limit exceeded', /does not answer \(namespace rate limit exceeded\)/],
    [4, 'Deadline exceeded', /does not answer \(no answer in time\)/],
  ])(
    'is not one whose visibility alone is away (%i): its attributes are unchecked, and a warning says so',
    async (code, details, sentence) => {
      const server = namespaceServer({ visibilityFault: grpcError(code, details) });
      const check = await checkNamespace(server.connection, 'shop', 'test');
      expect(check).toEqual({ faults: [], warnings: [], unchecked: expect.stringMatching(sentence) });
      server.namespace = { days: 365, data: { 'holdfast-environment': 'live' } };
      const other = await checkNamespace(server.connection, 'shop', 'test');
      expect(other.faults).toEqual([expect.stringContaining('is one for "live"')]);
    },
  );

  test('is one whose visibility this login may not ask', async () => {
    expect(await faultsOf({ visibilityFault: grpcError(7, 'Request unauthorized.') })).toEqual([
      expect.stringMatching(/refuses this login/),
    ]);
  });

  test('is no server whose version is not of the usual form', async () => {
    expect(await faultsOf({ version: 'cloud-7f3a' })).toEqual([]);
    expect(await faultsOf({ version: '2.0.0' })).toEqual([]);
  });

  test('needs no operator service to be found', async () => {
    const { connection } = namespaceServer({ attributes: without('DueAt') });
    Object.defineProperty(connection, 'operatorService', {
      get() {
        throw new Error('a worker may not use it');
      },
    });
    expect((await checkNamespace(connection, 'shop', 'test')).faults).toHaveLength(1);
  });
});

describe('the mark of a namespace that nobody may change', () => {
  const memo = {
    fields: { holdfastEnvironment: { metadata: { encoding: Buffer.from('json/plain') }, data: Buffer.from('"live"') } },
  };
  const unmarked = { namespace: { days: 90, data: {} } };

  test.each([false, true])('is the memo of a workflow, also of one that somebody has ended: %s', async (closed) => {
    const given = { ...unmarked, markWorkflow: { memo, closed } };
    expect(await faultsOf(given, 'live')).toEqual([]);
    expect(await faultsOf(given, 'test')).toEqual([expect.stringContaining('is one for "live"')]);
    expect(await otherEnvironment(namespaceServer(given).connection, 'shop', 'test')).toContain('is one for "live"');
  });

  test('is not asked for where the data of the namespace have one', async () => {
    expect(await faultsOf({ markWorkflow: { memo, closed: false } }, 'test')).toEqual([]);
  });
});
