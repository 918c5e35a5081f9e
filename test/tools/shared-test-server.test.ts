import { Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SEARCH_ATTRIBUTES } from '../../src/contract/names.js';
import { claimNamespace, temporalAddress } from '../support/temporal.js';

let connection: Connection;
beforeAll(async () => {
  connection = await Connection.connect({ address: await temporalAddress() });
});
afterAll(() => connection.close());

describe('the Temporal server that tests share', () => {
  test('no two claims get the same namespace', async () => {
    const claimed = await Promise.all([claimNamespace(), claimNamespace(), claimNamespace()]);
    expect(new Set(claimed).size).toBe(3);
  });

  test('a claimed namespace has every search attribute of the contract', async () => {
    const namespace = await claimNamespace();
    const listed = await connection.operatorService.listSearchAttributes({ namespace });
    expect(Object.keys(listed.customAttributes ?? {})).toEqual(expect.arrayContaining(Object.keys(SEARCH_ATTRIBUTES)));
  });
});
