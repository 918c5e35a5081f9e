import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client, Connection } from '@temporalio/client';
import { connectHoldfast } from '../../src/client/connect.js';
import type { Environment } from '../../src/client/environment-mark.js';
import { createEventSink } from '../../src/client/event-sink.js';
import { checkNamespace } from '../../src/client/namespace.js';
import { createReadyCheck } from '../../src/client/ready-check.js';
import { setUpNamespace } from '../../src/client/set-up-namespace.js';
import { ENVIRONMENT_MARK } from '../../src/contract/names.js';
import { environmentOf, holdfast } from '../cli/command.js';
import { testDataConverter } from '../support/data-converter.js';
import { claimNamespace, temporalAddress } from '../support/temporal.js';

/** Values of the API's `IndexedValueType`. */
const INT = 3;
const DATETIME = 6;

let connection: Connection;
beforeAll(async () => {
  connection = await Connection.connect({ address: await temporalAddress() });
});
afterAll(() => connection.close());

const faultsOf = async (namespace: string, environment: Environment = 'test') =>
  (await checkNamespace(connection, namespace, environment)).faults;

async function change(namespace: string, removed: string, added: Record<string, number> = {}): Promise<void> {
  await connection.operatorService.removeSearchAttributes({ namespace, searchAttributes: [removed] });
  if (Object.keys(added).length > 0) {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: added });
  }
}

describe('a namespace that was set up', () => {
  test('is fit for a worker, and for one of the other environment it is not', async () => {
    const namespace = await claimNamespace();
    expect(await faultsOf(namespace)).toEqual([]);
    expect(await faultsOf(namespace, 'live')).toEqual([
      expect.stringMatching(/is one for "test"[^]*HOLDFAST_ENVIRONMENT="live"/),
    ]);
    expect(await setUpNamespace(connection, namespace, 'test')).toMatchObject({ changed: [], byHand: [], faults: [] });
  });

  test('and has lost a search attribute since is not fit, until it is set up again', async () => {
    const namespace = await claimNamespace();
    await change(namespace, 'SubCategory');
    expect(await faultsOf(namespace)).toEqual([expect.stringContaining('SubCategory=Keyword')]);
    expect(await setUpNamespace(connection, namespace, 'test')).toMatchObject({ faults: [] });
    expect(await faultsOf(namespace)).toEqual([]);
  });

  test('is not fit with an attribute of another type, and setup leaves that one alone', async () => {
    const namespace = await claimNamespace();
    await change(namespace, 'AmountMinor', { AmountMinor: DATETIME });
    const fault = /search attribute AmountMinor of type DATETIME, and Holdfast's is of type INT/;
    expect(await faultsOf(namespace)).toEqual([expect.stringMatching(fault)]);
    const { changed, faults } = await setUpNamespace(connection, namespace, 'test');
    expect({ changed, faults }).toEqual({ changed: [], faults: [expect.stringMatching(fault)] });
  });

  test('says by which command to register what the server had no room for', async () => {
    const namespace = await claimNamespace();
    await change(namespace, 'AmountMinor', { OtherA: INT, OtherB: INT, OtherC: INT });
    const { byHand, faults } = await setUpNamespace(connection, namespace, 'test');
    expect(byHand.join('\n')).toMatch(/search-attribute create --namespace \S+ --name AmountMinor --type Int/);
    // Who may do everything needs no other login.
    expect(byHand.join('\n')).not.toContain('login');
    expect(byHand[0]).toMatch(
      /^the server has refused a change \(.*\), .* namespace of its own, or remove attributes of others:$/,
    );
    expect(faults).toHaveLength(1);
  });
});

test('a name that no namespace has is a fault with its mend', async () => {
  expect(await faultsOf('nowhere')).toEqual([expect.stringContaining('there is no namespace "nowhere": run holdfast')]);
});

describe('whatever is not a worker', () => {
  test('is not ready, asks or delivers in no namespace of the other environment', async () => {
    const namespace = await claimNamespace();
    const other = /is one for "test"[^]*HOLDFAST_ENVIRONMENT="live"[^]*TEMPORAL_NAMESPACE/;
    const client = new Client({ connection, namespace });
    expect(await createReadyCheck(client, { keyId: 'k1', environment: 'live' })()).toMatch(other);
    expect(await createReadyCheck(client, { keyId: 'k1', environment: 'test' })()).toBe(true);

    const sink = createEventSink(client, { environment: 'live' });
    await expect(sink.endedFlow('payment-nobody')).rejects.toThrow(other);
    await expect(sink.endedFlow('payment-nobody')).rejects.toThrow(other);

    const address = await temporalAddress();
    const asked = { address, namespace, dataConverter: testDataConverter() };
    await expect(connectHoldfast({ ...asked, environment: 'live' })).rejects.toThrow(other);
    await (await connectHoldfast({ ...asked, environment: 'test' })).close();
    await expect(connectHoldfast({ ...asked, environment: 'Live' as 'live' })).rejects.toThrow(
      /write "test" or "live"/,
    );

    const env = await environmentOf(namespace);
    for (const command of ['list', 'setup']) {
      const refused = await holdfast({ ...env, HOLDFAST_ENVIRONMENT: 'live' }, [command]);
      expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(other) });
      expect(await holdfast({ ...env, HOLDFAST_ENVIRONMENT: 'test' }, [command])).toMatchObject({ code: 0 });
    }
  });

  test('goes on in one that nobody has marked', async () => {
    const namespace = 'holdfast-unmarked';
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
    });
    const sink = createEventSink(new Client({ connection, namespace }), { environment: 'live' });
    await expect(sink.endedFlow('payment-nobody')).rejects.toThrow(/workflow not found/);
    expect(await faultsOf(namespace, 'live')).toEqual([
      expect.stringContaining('marked neither'),
      expect.stringContaining('1 days only'),
      expect.stringContaining('lacks search attributes (PaymentStatus=Keyword'),
    ]);
  });

  test('sees the mark that a workflow holds', async () => {
    const namespace = 'holdfast-marked-by-workflow';
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
    });
    const refusing = Object.assign(Object.create(connection) as Connection, {
      workflowService: Object.assign(Object.create(connection.workflowService) as Connection['workflowService'], {
        updateNamespace: () => {
          throw Object.assign(new Error('refused'), { code: 7, details: 'Request unauthorized.', metadata: {} });
        },
      }),
    });
    const { faults } = await setUpNamespace(refusing, namespace, 'test');
    expect(faults).toEqual([]);
    expect(await faultsOf(namespace, 'live')).toContainEqual(expect.stringContaining('is one for "test"'));
    const handle = new Client({ connection, namespace }).workflow.getHandle(ENVIRONMENT_MARK.workflowId);
    await handle.terminate();
    expect(await faultsOf(namespace)).toEqual([]);
  });
});
