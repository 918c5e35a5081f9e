import type { Client } from '@temporalio/client';
import { expect, test } from 'vitest';
import { HoldfastClient } from '../../src/client/holdfast-client.js';
import { BRAKES_MEMO } from '../../src/contract/brakes.js';
import { markSealed, undecodable } from '../../src/contract/payload-marks.js';

/** A Temporal whose brakes have this in their memo. */
function keeping(noted: unknown): Client {
  const run = { runId: 'own', status: { name: 'RUNNING' }, memo: { [BRAKES_MEMO]: noted } };
  const getHandle = () => ({ describe: () => Promise.resolve(run) });
  const withDeadline = (_at: number, call: () => Promise<unknown>) => call();
  return { workflow: { getHandle }, withDeadline } as unknown as Client;
}

const BY = { businessUnit: 'default', who: 'Ada', why: 'a drill' };

test.each<[string, unknown, string]>([
  [
    'under a key that is missing here',
    undecodable('unknown key id', 'k2'),
    'unknown key id "k2"; give it the missing key',
  ],
  ['that are malformed', {}, 'it is malformed'],
])('brakes %s are told as that, and what changes them says that nothing was changed', async (_what, noted, why) => {
  const { brakes } = new HoldfastClient(keeping(markSealed(noted)));
  const unread = `Which units are braked can't be read here from the memo of workflow "brakes" (${why})`;
  const told = (message: string) => ({ type: 'UnexpectedResponse', message });
  await expect(brakes.brake(BY)).rejects.toMatchObject(told(`Nothing was braked or released. ${unread}`));
  await expect(brakes.release(BY)).rejects.toMatchObject(told(`Nothing was braked or released. ${unread}`));
  await expect(brakes.list()).rejects.toMatchObject(told(unread));
});
