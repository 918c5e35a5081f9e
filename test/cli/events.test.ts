import { createHash, randomUUID } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startParkedEvent } from '../../src/client/event-sink.js';
import type { ParkReason } from '../../src/contract/parked-event.js';
import type { ListedEvent } from '../../src/cli/events.js';
import type { Replay } from '../../src/cli/replay-events.js';
import { testDataConverter } from '../support/data-converter.js';
import { claimNamespace, temporalAddress } from '../support/temporal.js';
import { until } from '../support/until.js';
import { environmentOf, holdfast } from './command.js';

// No worker runs here: what the command can do without one is what these tests show.
let connection: Connection;
let client: Client;
let env: NodeJS.ProcessEnv;
/** Hashes of the events, by what they are called here. */
const parked: Record<string, string> = {};
beforeAll(async () => {
  connection = await Connection.connect({ address: await temporalAddress() });
  const namespace = await claimNamespace();
  client = new Client({ connection, namespace, dataConverter: testDataConverter() });
  env = await environmentOf(namespace);
  await client.workflow.start('charge', { workflowId: 'payment-order-1', taskQueue: 'holdfast' });
  parked['waits'] = await park('flowNotFound', 'payment-1');
  parked['contradicts'] = await park('contradictsResult', 'payment-2');
  parked['stopped'] = await park('lookUpFailed', "payment's");
  await handleOf('stopped').terminate('wrong button');
  await until(
    () => list(),
    (events) => events.length === 3 && events.some(({ closedAt }) => closedAt !== undefined),
  );
});
afterAll(async () => {
  await connection?.close();
});

async function park(reason: ParkReason, paymentId: string, eventId?: string): Promise<string> {
  const hash = createHash('sha256').update(randomUUID()).digest('hex');
  const event = {
    hash,
    ...(eventId !== undefined && { eventId }),
    eventType: 'payment.charge.update',
    created: '2026-11-06T14:33:46.150Z',
    businessUnit: 'default',
    paymentId,
    reconciliationId: 'order-1',
    trusted: true,
  };
  await startParkedEvent(client, { event, reason }, 'once');
  return hash;
}

const hashOf = (name: string): string => parked[name] ?? '';
const handleOf = (name: string) => client.workflow.getHandle(`parked-event-${hashOf(name)}`);

async function list(...args: string[]): Promise<ListedEvent[]> {
  const { code, out, err } = await holdfast(env, ['events', 'list', '--json', ...args]);
  if (code !== 0) throw new Error(err);
  return JSON.parse(out) as ListedEvent[];
}

describe('holdfast events list', () => {
  test('shows every event that has found no flow, and no other workflow', async () => {
    const events = await list();
    expect(events.map(({ hash }) => hash).toSorted()).toEqual(Object.values(parked).toSorted());
    expect(events.find(({ hash }) => hash === parked['waits'])).toEqual({
      hash: parked['waits'],
      workflowId: `parked-event-${parked['waits']}`,
      status: 'parked',
      needsOperator: false,
      paymentId: 'payment-1',
      businessUnit: 'default',
      eventType: 'payment.charge.update',
      created: '2026-11-06T14:33:46.150Z',
      reference: 'order-1',
      reason: 'flowNotFound',
      parkedAt: expect.stringMatching(/Z$/),
    });
  });

  test.each([
    [['--stuck'], ['contradicts']],
    [['--payment', "payment's"], ['stopped']],
    [['--payment', "x' OR PaymentStatus = 'parked"], []],
    [['--status', 'unclaimed'], []],
  ])('%j narrows it down', async (args, names) => {
    expect((await list(...args)).map(({ hash }) => hash)).toEqual(names.map(hashOf));
  });

  test('shows people a table, by whose first column an event can be named', async () => {
    const { out } = await holdfast(env, ['events', 'list']);
    expect(out).toMatch(/^EVENT +TYPE +STATUS +WHY +PAYMENT +REFERENCE +PARKED \(UTC\)$/m);
    const short = hashOf('contradicts').slice(0, 12);
    expect(out).toMatch(
      new RegExp(
        `^${short} +payment\\.charge\\.update +parked +contradictsResult +payment-2 +order-1 .* needs an`,
        'm',
      ),
    );
    const { code, out: explained } = await holdfast(env, ['explain', short, '--json'], { waitMs: 200 });
    expect({ code, ...JSON.parse(explained) }).toMatchObject({ code: 0, type: 'parkedEvent', status: 'parked' });
  });

  test('shows without the keys what is stored in clear, and replays nothing without them', async () => {
    const { HOLDFAST_ENCRYPTION_KEYS: _keys, ...keyless } = env;
    const { code, out } = await holdfast(keyless, ['events', 'list', '--payment', 'payment-1']);
    expect(code).toBe(0);
    expect(out).toMatch(/^[0-9a-f]{12} +- +parked +- +payment-1 +- /m);
    const refused = await holdfast(keyless, ['events', 'replay', hashOf('waits')]);
    expect(refused).toMatchObject({ code: 1, out: '', err: expect.stringContaining('HOLDFAST_ENCRYPTION_KEYS') });
  });

  test('says when there are more, and where it looked when there are none', async () => {
    expect((await holdfast(env, ['events', 'list', '--limit', '2'])).err).toContain('There are more than these 2');
    const { code, out, err } = await holdfast(env, ['events', 'list', '--status', 'delivered']);
    expect({ code, out }).toEqual({ code: 0, out: '' });
    expect(err).toContain(`No such event in namespace "${env['TEMPORAL_NAMESPACE']}"`);
  });
});

test('an event is found by the id that the service shows, and one of several of its payment', async () => {
  const paymentId = randomUUID();
  const idOf = () => `${paymentId}-2026-11-06T14:33:46.150Z-${randomUUID()}`;
  const [first, second] = [idOf(), idOf()];
  const hash = await park('flowNotFound', paymentId, first);
  await park('flowNotFound', paymentId, second);
  const shown = await until(
    () => list('--payment', paymentId),
    (events) => events.length === 2 && events.every(({ eventId }) => eventId !== undefined),
  );
  expect(shown.map(({ eventId }) => eventId).toSorted()).toEqual([first, second].toSorted());
  const explained = await holdfast(env, ['show', first, '--json'], { waitMs: 300 });
  expect(explained).toMatchObject({ code: 0, out: expect.stringContaining(`"workflowId": "parked-event-${hash}"`) });
  await client.workflow.getHandle(`parked-event-${hash}`).terminate();
  const { code, out } = await holdfast(env, ['events', 'replay', first]);
  expect({ code, out }).toEqual({ code: 0, out: `${hash.slice(0, 12)}  looks for its flow again, for 24 h\n` });
  const unknown = await holdfast(env, ['events', 'replay', idOf()]);
  expect(unknown).toMatchObject({ code: 1, out: expect.stringContaining('no parked event has the id') });
});

describe('holdfast events replay', () => {
  test('starts a stopped event again, and then lists what its new run says', async () => {
    const short = hashOf('stopped').slice(0, 12);
    const { code, out } = await holdfast(env, ['events', 'replay', short]);
    expect({ code, out }).toEqual({ code: 0, out: `${short}  looks for its flow again, for 24 h\n` });
    expect((await handleOf('stopped').describe()).status.name).toBe('RUNNING');
    await until(
      () => list('--payment', "payment's"),
      (events) => events.length === 1 && events[0]?.closedAt === undefined,
    );
  });

  test('tells of each event that it could not replay, with exit code 1', async () => {
    const { code, out } = await holdfast(env, [
      'events',
      'replay',
      '--json',
      'f'.repeat(64),
      '0'.repeat(12),
      'order-1',
    ]);
    expect(code).toBe(1);
    expect((JSON.parse(out) as Replay[]).map((replay) => 'why' in replay && replay.why)).toEqual([
      expect.stringMatching(/not found/i),
      'no parked event\'s hash begins with "000000000000"',
      '"order-1" is not the hash of an event',
    ]);
  });
});
