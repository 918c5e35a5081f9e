import { describe, expect, test } from 'vitest';
import type { Client } from '@temporalio/client';
import { announcedKeys, announcingIdentity, createReadyCheck } from '../../src/client/ready-check.js';
import { ALL_ATTRIBUTES, grpcError, namespaceServer } from './namespace-server.js';

/** A client of an engine where these workers poll, each as it is called. */
function clientWhere(pollers: Record<string, readonly string[]>) {
  const engine = { pollers, away: false, asked: 0 };
  const workflowService = {
    describeNamespace: () => (engine.away ? Promise.reject(new Error('14 UNAVAILABLE')) : Promise.resolve({})),
    describeTaskQueue: ({ taskQueue }: { taskQueue: { name: string } }) => {
      engine.asked += 1;
      return Promise.resolve({ pollers: (engine.pollers[taskQueue.name] ?? []).map((identity) => ({ identity })) });
    },
  };
  const connection = { withDeadline: (_at: number, ask: () => Promise<unknown>) => ask() };
  const client = { workflowService, connection, options: { namespace: 'default' } } as unknown as Client;
  return { engine, client };
}

const OLD = announcingIdentity('1@old', ['k1']);
const BOTH = announcingIdentity('2@both', ['k1', 'k2']);

function handlerWith(keyId: string, pollers: Record<string, readonly string[]>, keysForMs = 0) {
  const { engine, client } = clientWhere(pollers);
  const logged: [object, string][] = [];
  const log = (fields: object, message: string) => void logged.push([fields, message]);
  const ready = createReadyCheck(client, { keyId, keysForMs, logger: { info: log, error: log } });
  return { engine, ready, logged };
}

describe('a handler with a new first key', () => {
  test('is not ready while one live worker lacks it, though another has it, and says which and what to do', async () => {
    const { ready } = handlerWith('k2', { holdfast: [BOTH, OLD], 'holdfast-billing': [BOTH] });
    const sentence = await ready();
    expect(sentence).toMatch(/^key "k2"[^]* not announced by worker 1@old: [^]*Add it behind the first key/);
    expect(sentence).not.toContain('2@both');
  });

  test('is not ready while a worker of the billing queue lacks it', async () => {
    const { ready } = handlerWith('k2', { holdfast: [BOTH], 'holdfast-billing': [OLD] });
    expect(await ready()).toContain('1@old');
  });

  test('is ready once that worker is gone or has been replaced, and each change is told once', async () => {
    const { engine, ready, logged } = handlerWith('k2', { holdfast: [BOTH, OLD] });
    await ready();
    const sentence = await ready();
    engine.pollers = { holdfast: [BOTH, announcingIdentity('3@old', ['k1', 'k2'])] };
    expect([await ready(), await ready()]).toEqual([true, true]);
    expect(logged).toEqual([
      [{ keyId: 'k2', reason: sentence }, expect.stringContaining('lacks the key')],
      [{ keyId: 'k2' }, expect.stringContaining('has the key')],
    ]);
  });

  test('is not ready for a worker that tells of no keys, and names the first three of many', async () => {
    const { ready } = handlerWith('k1', { holdfast: ['4@older', BOTH] });
    expect(await ready()).toContain('by worker 4@older (which announces no keys: an older build?): ');
    const many = handlerWith('k9', {
      holdfast: ['1@a', '2@b', '3@c', '4@d', '5@e'].map((one) => announcingIdentity(one, ['k1'])),
    });
    expect(await many.ready()).toContain('by worker 1@a, 2@b, 3@c, 2 more: ');
  });

  test('is ready where nobody polls, and tells that nobody could say', async () => {
    const { ready, logged } = handlerWith('k2', {});
    expect(await ready()).toBe(true);
    expect(logged).toEqual([[{ keyId: 'k2' }, expect.stringContaining('No worker polls')]]);
  });

  test('takes a key for another only by its whole id', async () => {
    const { ready } = handlerWith('k', { holdfast: [BOTH] });
    expect(await ready()).toContain('key "k"');
  });
});

test('a handler gets events while visibility alone is away, says so once, and asks again until it answers', async () => {
  const server = namespaceServer({ visibilityFault: grpcError(14, 'no node available') });
  Object.assign(server.connection.workflowService, { describeTaskQueue: () => Promise.resolve({ pollers: [] }) });
  const { connection } = server;
  const client = { connection, workflowService: connection.workflowService, options: { namespace: 'shop' } };
  const errors: string[] = [];
  const logger = { info: () => undefined, error: (_fields: object, line: string) => void errors.push(line) };
  const ready = createReadyCheck(client as unknown as Client, { keyId: 'k1', environment: 'test', logger });
  expect([await ready(), await ready()]).toEqual([true, true]);
  expect(errors).toEqual([
    expect.stringMatching(/could not be checked: visibility does not answer \(no node available\)/),
  ]);
  delete server.visibilityFault;
  server.attributes.delete('DueAt');
  expect(await ready()).toContain('lacks search attributes (DueAt=Datetime)');
  server.attributes = new Map(ALL_ATTRIBUTES);
  expect(await ready()).toBe(true);
});

describe('the look-up', () => {
  test('is asked for again only after a while, and reachability each time', async () => {
    const { engine, ready } = handlerWith('k1', { holdfast: [BOTH] }, 60_000);
    expect([await ready(), await ready(), engine.asked]).toEqual([true, true, 2]);
    engine.away = true;
    expect(await ready()).toMatch(/^Temporal cannot be reached/);
  });

  test('that fails is no answer, and is not remembered', async () => {
    const { engine, ready } = handlerWith('k1', { holdfast: [OLD] }, 60_000);
    engine.away = true;
    expect(await ready()).toMatch(/^Temporal cannot be reached/);
    engine.away = false;
    expect(await ready()).toBe(true);
  });
});

describe('the identity of a worker', () => {
  test('is one that the server takes, whatever number of keys: the last ones are left out, each as a whole', async () => {
    const ids = Array.from({ length: 60 }, (_, index) => `${'k'.repeat(29)}-${index + 10}`);
    const identity = announcingIdentity('1@host', ids);
    expect(identity.length).toBeLessThanOrEqual(1000);
    const [announced] = await announcedKeys(clientWhere({ holdfast: [identity] }).client);
    expect(announced?.keyIds.length).toBeGreaterThan(25);
    expect(announced?.keyIds).toEqual(ids.slice(0, announced?.keyIds.length));
  });

  test('announces the lost time of a restore beside the keys', async () => {
    const lost = { from: Date.UTC(2026, 0, 31, 9), until: Date.UTC(2026, 0, 31, 10) };
    const pollers = { holdfast: [announcingIdentity('1@host', ['k1', 'k2'], lost), announcingIdentity('2@host', [])] };
    expect(await announcedKeys(clientWhere(pollers).client, ['holdfast'])).toEqual([
      { name: '1@host', keyIds: ['k1', 'k2'], restoredTo: '2026-01-31T09:00:00.000Z,2026-01-31T10:00:00.000Z' },
      { name: '2@host', keyIds: [] },
    ]);
  });
});
