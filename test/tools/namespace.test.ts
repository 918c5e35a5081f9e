import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Connection } from '@temporalio/client';
import { prepareNamespace, retentionDays } from '../../tools/stack/namespace.js';
import { claimNamespace, temporalAddress } from '../support/temporal.js';

let connection: Connection;
beforeAll(async () => {
  connection = await Connection.connect({ address: await temporalAddress() });
});
afterAll(() => connection.close());

describe('preparing a namespace', () => {
  test('raises the retention to 365 days, and leaves it alone the next time', async () => {
    const namespace = await claimNamespace();
    expect(await retentionDays(connection, namespace)).toBe(1);
    await (
      await prepareNamespace(connection, namespace)
    ).effective;
    expect(await retentionDays(connection, namespace)).toBe(365);
    await prepareNamespace(connection, namespace);
    expect(await retentionDays(connection, namespace)).toBe(365);
  });

  test('registers a search attribute that is missing', async () => {
    const namespace = await claimNamespace();
    await connection.operatorService.removeSearchAttributes({ namespace, searchAttributes: ['SubCategory'] });
    await prepareNamespace(connection, namespace);
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
    expect(Object.keys(customAttributes ?? {})).toContain('SubCategory');
  });

  test('refuses a search attribute of another type by name', async () => {
    const namespace = await claimNamespace();
    await connection.operatorService.removeSearchAttributes({ namespace, searchAttributes: ['AmountMinor'] });
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: { AmountMinor: 6 } });
    await expect(prepareNamespace(connection, namespace)).rejects.toThrow(
      /AmountMinor exists with another type than INT/,
    );
  });
});
