import { exec } from 'node:child_process';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { expect, test } from 'vitest';
import type { Engine } from '../../src/cli/engine.js';
import { CommandError } from '../../src/cli/errors.js';
import { setUp } from '../../src/cli/setup.js';
import { makeReconcileSchedule } from '../../src/client/reconcile-schedule.js';
import { RECONCILE_SCHEDULE } from '../../src/contract/reconcile.js';
import { namespaceServer } from '../client/namespace-server.js';
import { claimNamespace, temporalAddress, temporalCliPath } from '../support/temporal.js';

const TEST = { HOLDFAST_ENVIRONMENT: 'test' };

async function run(
  env: NodeJS.ProcessEnv,
  { connection } = namespaceServer({ namespace: undefined }),
): Promise<{ code: number; said: string }> {
  const engine = { connection, address: 'temporal:7233', namespace: 'shop' } as unknown as Engine;
  let said = '';
  const print = (text: string): void => void (said += text);
  const request = { command: 'setup', json: false } as const;
  return { code: await setUp(engine, request, { env, print, printError: print }), said };
}

test('makes the schedule of reconciliations once, and says by which command somebody else makes it', async () => {
  const server = namespaceServer();
  const setUpTwice = async (): Promise<string[]> => {
    const engine = { connection: server.connection, address: 'temporal:7233', namespace: 'shop' } as unknown as Engine;
    const said: string[] = [];
    for (let turn = 0; turn < 2; turn += 1) {
      let text = '';
      const print = (part: string): void => void (text += part);
      const request = { command: 'setup', json: false } as const;
      expect(await setUp(engine, request, { env: {}, print, printError: print })).toBe(0);
      said.push(text);
    }
    return said;
  };
  const [first, second] = await setUpTwice();
  expect(first).toContain('- made schedule holdfast-reconcile');
  expect(second).toContain('- nothing was to be changed');
  expect(second).toContain('- schedule holdfast-reconcile: reconciles daily at 03:17 UTC');
  expect(server.changes).toEqual(['createSchedule']);
  server.refuses.add('createSchedule');
  const [refused] = await setUpTwice();
  expect(refused).toContain('Request unauthorized');
  expect(refused).not.toContain('reconciles daily');
  expect(refused).toContain(
    'temporal schedule create --namespace shop --schedule-id holdfast-reconcile --workflow-id reconcile --type reconcile ' +
      `--task-queue holdfast-billing --calendar '{"hour":"3","minute":"17"}' --catchup-window 1d`,
  );
});

test("Temporal's own command line takes that command, and makes the schedule that setup makes", async () => {
  const [ours, theirs, address] = [await claimNamespace(), await claimNamespace(), await temporalAddress()];
  const refusing = namespaceServer({ refuses: new Set(['createSchedule']) });
  const made = await makeReconcileSchedule(refusing.connection, theirs);
  const command = /^ {2}temporal (.*)$/m.exec(typeof made === 'string' ? made : made.refused)?.[1];
  await promisify(exec)(`'${temporalCliPath()}' ${command} --address ${address}`);
  const connection = await Connection.connect({ address });
  try {
    expect(await makeReconcileSchedule(connection, ours)).toBe('made');
    const [wanted, got] = await Promise.all(
      [ours, theirs].map((namespace) =>
        new Client({ connection, namespace }).schedule.getHandle(RECONCILE_SCHEDULE.id).describe(),
      ),
    );
    expect(got?.spec.calendars).toEqual(wanted?.spec.calendars);
    expect(got?.policies).toEqual(wanted?.policies);
    expect(got?.action).toMatchObject({
      workflowId: 'reconcile',
      workflowType: 'reconcile',
      taskQueue: 'holdfast-billing',
    });
  } finally {
    await connection.close();
  }
});

test('a worker could start after setup, unless the reference book that is configured can not be used', async () => {
  // Compose passes what is not set as an empty text.
  expect(await run({ ...TEST, HOLDFAST_REFERENCE_BOOK_URL: '' })).toMatchObject({ code: 0 });
  const { code, said } = await run({
    ...TEST,
    HOLDFAST_REFERENCE_BOOK_URL: 'postgres://holdfast:secret@127.0.0.1:1/book',
  });
  expect(code).toBe(1);
  expect(said).toMatch(/reference book can't be used \(HOLDFAST_REFERENCE_BOOK_URL\): .*ECONNREFUSED/);
  expect(said).not.toContain('secret');
  await expect(run({ ...TEST, HOLDFAST_REFERENCE_BOOK_URL: 'mysql://here' })).rejects.toThrow(CommandError);
});

test('says for how long references are unique where that is less than in a namespace of its own making', async () => {
  const server = namespaceServer({ namespace: { days: 90, data: { 'holdfast-environment': 'test' } } });
  const { said } = await run({}, server);
  expect(said).toContain(
    '- closed flows are kept for 90 days: without a reference book never use a reference again after that',
  );
});

test.each([
  ['there is none', undefined],
  ['nobody has marked it', { days: 365, data: {} }],
])('is told the environment of a namespace which it marks for good: %s', async (_what, namespace) => {
  const server = namespaceServer({ namespace });
  for (const env of [{}, { HOLDFAST_ENVIRONMENT: '' }])
    await expect(run(env, server)).rejects.toThrow(/HOLDFAST_ENVIRONMENT is not set.*"shop".*"test" or "live"/);
  expect(server.changes).toEqual([]);
  expect(await run({ HOLDFAST_ENVIRONMENT: 'live' }, server)).toMatchObject({ code: 0 });
});
