import { describe, expect, test } from 'vitest';
import { checkNamespace } from '../../src/client/namespace.js';
import { setUpNamespace } from '../../src/client/set-up-namespace.js';
import { ALL_ATTRIBUTES, grpcError, namespaceServer, type NamespaceServer } from './namespace-server.js';

const setUp = (server: NamespaceServer, environment: 'test' | 'live' = 'test', days?: number) =>
  setUpNamespace(server.connection, 'shop', environment, days);
const CLOUD = ['registerNamespace', 'updateNamespace', 'addSearchAttributes'];

describe('setup', () => {
  test('makes a namespace, with all that a worker wants of it', async () => {
    const server = namespaceServer({ namespace: undefined });
    const { changed, byHand, faults } = await setUp(server, 'live');
    expect({ byHand, faults }).toEqual({ byHand: [], faults: [] });
    expect(changed).toHaveLength(2);
    expect(server.namespace).toEqual({ days: 365, data: { 'holdfast-environment': 'live' } });
    expect(server.attributes).toEqual(ALL_ATTRIBUTES);
  });

  test('changes nothing the second time', async () => {
    const server = namespaceServer({ namespace: { days: 3, data: {} }, attributes: new Map() });
    expect((await setUp(server, 'live')).changed).toHaveLength(3);
    const done = [...server.changes];
    expect(await setUp(server, 'live')).toEqual({ changed: [], byHand: [], faults: [], retentionDays: 365 });
    expect(server.changes).toEqual(done);
  });

  test('raises how long closed flows are kept, and never lowers it', async () => {
    const server = namespaceServer({ namespace: { days: 400, data: { 'holdfast-environment': 'test' } } });
    await setUp(server);
    expect(server.namespace?.days).toBe(400);
    await setUp(server, 'test', 730);
    expect(server.namespace?.days).toBe(730);
  });

  test.each([
    ['live', 90, 90],
    ['live', 30, 30],
    ['live', 29, 365],
    ['test', 1, 1],
  ] as const)(
    'without a number leaves a namespace for %s that keeps them for %i days at %i',
    async (of, days, after) => {
      const server = namespaceServer({ namespace: { days, data: { 'holdfast-environment': of } } });
      expect(await setUp(server, of)).toMatchObject({ byHand: [], faults: [], retentionDays: after });
      expect(server.namespace?.days).toBe(after);
    },
  );

  test('changes nothing in a namespace of the other environment', async () => {
    const server = namespaceServer({ namespace: { days: 1, data: { 'holdfast-environment': 'live' } } });
    const { faults } = await setUp(server);
    expect(faults).toEqual([expect.stringContaining('is one for "live"')]);
    expect(server.changes).toEqual([]);
  });

  test('where it may change no namespace marks it by a workflow, and says by which commands the rest is done', async () => {
    const attributes = new Map(ALL_ATTRIBUTES);
    attributes.delete('AmountMinor');
    const server = namespaceServer({ namespace: { days: 7, data: {} }, attributes, refuses: new Set(CLOUD) });
    const { changed, byHand, faults } = await setUp(server, 'live');
    expect(server.changes).toEqual(['startWorkflowExecution']);
    expect(changed).toEqual([expect.stringContaining('"live" by workflow holdfast-environment')]);
    const text = byHand.join('\n');
    expect(text).toMatch(/refused this login[^]*Request unauthorized/);
    expect(text).toContain('temporal operator namespace update --namespace shop --retention 365d');
    expect(text).toContain('tcld namespace retention set --namespace shop --retention-days 90');
    expect(text).toContain('temporal operator search-attribute create --namespace shop --name AmountMinor --type Int');
    expect(text).toContain(
      'tcld namespace search-attributes add --namespace shop --search-attribute "AmountMinor=Int"',
    );
    expect(faults).toHaveLength(2);
    expect((await checkNamespace(server.connection, 'shop', 'test')).faults[0]).toContain('is one for "live"');
  });

  test('tells what the login may not do from what the server does not take, and a want of room from both', async () => {
    const refuses = new Set(['addSearchAttributes']);
    const server = namespaceServer({ namespace: { days: 7, data: {} }, attributes: new Map(), refuses });
    Object.assign(server.connection.workflowService, {
      updateNamespace: async () => {
        throw grpcError(3, 'Retention is too long.');
      },
    });
    const { byHand } = await setUp(server, 'live');
    expect(byHand.slice(0, 2)).toEqual([
      'Temporal has refused this login a change (Request unauthorized.):',
      'the server has refused a change (Retention is too long.):',
    ]);
  });

  test('is content with 90 days where no more can be had, and says what that means', async () => {
    const server = namespaceServer({ namespace: { days: 90, data: {} }, refuses: new Set(CLOUD) });
    const { byHand, faults } = await setUp(server, 'live', 365);
    expect(faults).toEqual([]);
    expect(byHand.join('\n')).toContain('never use a reference again');
    expect(await setUp(server, 'live')).toMatchObject({ changed: [], faults: [] });
  });

  test('starts the marking workflow again after somebody has ended it', async () => {
    const server = namespaceServer({ namespace: { days: 90, data: {} }, refuses: new Set(CLOUD) });
    await setUp(server);
    if (server.markWorkflow !== undefined) server.markWorkflow.closed = true;
    await setUp(server);
    expect(server.markWorkflow?.closed).toBe(false);
  });

  test('where it may do nothing at all names each command', async () => {
    const refuses = new Set([...CLOUD, 'startWorkflowExecution']);
    const server = namespaceServer({ namespace: { days: 90, data: {} }, refuses });
    const { byHand, faults } = await setUp(server);
    expect(byHand.join('\n')).toContain(`--memo 'holdfastEnvironment="test"'`);
    expect(faults).toEqual([expect.stringContaining('marked neither')]);
    const none = await setUp(namespaceServer({ namespace: undefined, refuses }));
    expect(none.byHand.join('\n')).toContain('temporal operator namespace create --namespace shop --retention 365d');
  });
});
