import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Client, Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { SEARCH_ATTRIBUTES } from '../../src/contract/names.js';
import { createLogger } from '../../src/security/logging.js';
import { connectHoldfast, ENVIRONMENT_DATA } from '../../src/client/connect.js';
import { createEventSink } from '../../src/client/event-sink.js';
import { checkEnvironment, checkNamespace } from '../../workers/connect.js';
import { StartFault } from '../../workers/process.js';
import { environmentOf, holdfast } from '../cli/command.js';
import { testDataConverter } from '../support/data-converter.js';
import { claimNamespace, temporalAddress } from '../support/temporal.js';

const { IndexedValueType } = proto.temporal.api.enums.v1;
const QUIET = createLogger({ name: 'worker', level: 'silent', secrets: [] });

let connection: Connection;
beforeAll(async () => {
  connection = await Connection.connect({ address: await temporalAddress() });
});
afterAll(() => connection.close());

const check = (namespace: string, environment: 'test' | 'live' = 'test') =>
  checkNamespace(connection, namespace, environment, QUIET);

async function change(namespace: string, removed: string, added: Record<string, number> = {}): Promise<void> {
  await connection.operatorService.removeSearchAttributes({ namespace, searchAttributes: [removed] });
  if (Object.keys(added).length > 0) {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: added });
  }
}

describe('a worker', () => {
  test('registers a search attribute that its namespace lacks', async () => {
    const namespace = await claimNamespace();
    await change(namespace, 'SubCategory');
    await check(namespace);
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    expect(Object.keys(customAttributes ?? {}).toSorted()).toEqual(Object.keys(SEARCH_ATTRIBUTES).toSorted());
  });

  test('does not start where one has another type, and names it', async () => {
    const namespace = await claimNamespace();
    await change(namespace, 'AmountMinor', { AmountMinor: IndexedValueType.INDEXED_VALUE_TYPE_DATETIME });
    await expect(check(namespace)).rejects.toThrow(
      new StartFault(`namespace "${namespace}": search attribute AmountMinor must be of type INT`),
    );
  });

  test('does not start where one is lacking that can not be registered, and names the command', async () => {
    const namespace = await claimNamespace();
    // As many of this type as the store can hold.
    const INT = IndexedValueType.INDEXED_VALUE_TYPE_INT;
    await change(namespace, 'AmountMinor', { OtherA: INT, OtherB: INT, OtherC: INT });
    await expect(check(namespace)).rejects.toThrow(
      /could not be registered[^]*search-attribute create --namespace \S+ --name AmountMinor --type Int/,
    );
  });

  test('does not start against live money where closed flows, and with them references, are soon forgotten', async () => {
    const namespace = await claimNamespace();
    await expect(check(namespace, 'live')).rejects.toThrow(/keeps closed flows for 1 days only[^]*at least 30 days/);
    await check(namespace, 'test');
  });

  test('marks its namespace as one for its environment, and does not start in one for the other', async () => {
    const namespace = await claimNamespace();
    await check(namespace);
    await check(namespace);
    const { namespaceInfo } = await connection.workflowService.describeNamespace({ namespace });
    expect(namespaceInfo?.data).toMatchObject({ [ENVIRONMENT_DATA]: 'test' });
    const workflowExecutionRetentionTtl = { seconds: 365 * 86_400 };
    await connection.workflowService.updateNamespace({ namespace, config: { workflowExecutionRetentionTtl } as never });
    await expect(check(namespace, 'live')).rejects.toThrow(/is one for "test"[^]*HOLDFAST_ENVIRONMENT="live"/);
  });
});

describe('whatever is not a worker', () => {
  test('does not start, ask or deliver in a namespace of the other environment', async () => {
    const namespace = await claimNamespace();
    await check(namespace);
    const other = /is one for "test"[^]*HOLDFAST_ENVIRONMENT="live"[^]*TEMPORAL_NAMESPACE/;
    const client = new Client({ connection, namespace });
    await expect(checkEnvironment(client, 'live')).rejects.toThrow(other);
    await checkEnvironment(client, 'test');

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
    const refused = await holdfast({ ...env, HOLDFAST_ENVIRONMENT: 'live' }, ['list']);
    expect(refused).toMatchObject({ code: 1, err: expect.stringMatching(other) });
    expect(await holdfast({ ...env, HOLDFAST_ENVIRONMENT: 'test' }, ['list'])).toMatchObject({ code: 0 });
  });

  test('goes on in one that nobody has marked', async () => {
    const namespace = await claimNamespace();
    await expect(checkEnvironment(new Client({ connection, namespace }), 'live')).resolves.toBeUndefined();
  });
});
