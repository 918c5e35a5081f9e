import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import Database from 'libsql';
import { describe, expect, test } from 'vitest';
import { processIdentity } from '../../src/cli/process-identity.js';
import { readNamespace } from '../../src/client/namespace.js';
import { connectWhenReady } from '../../tools/stack/dev-server.js';
import { childEnv } from '../../tools/stack/ready-process.js';
import { readRunFile, type RunFile } from '../../tools/stack/run-file.js';
import { readSettings } from '../../tools/stack/settings.js';
import { until } from '../support/until.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { root, stackEnvironment, startScript, type Running } from './support.js';

/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9';

interface Started {
  stack: Running;
  file: RunFile;
}

async function startStack(stateDir: string, more: NodeJS.ProcessEnv = {}): Promise<Started> {
  const stack = startScript([join(root, 'tools', 'start.mjs'), '--no-demo'], stackEnvironment(stateDir, more));
  await stack.line('ready');
  const file = readRunFile(stateDir);
  if (file === undefined) throw new Error('no run.json');
  return { stack, file };
}

async function closeOneFlow(connection: Connection): Promise<void> {
  const { workflow } = new Client({ connection });
  const options = { workflowId: 'closed', taskQueue: 'a-queue-without-workers' };
  await (await workflow.start('charge', options)).terminate();
}

/** Waits until the server plans to forget a flow after that many days, and not before. */
async function untilKeptFor(databasePath: string, days: number): Promise<void> {
  const database = new Database(databasePath, { readonly: true });
  const limit = new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const query = database.prepare('SELECT count(*) AS planned FROM timer_tasks WHERE visibility_timestamp > ?');
  const planned = async () => (query.get(limit) as { planned: number }).planned;
  try {
    await until(planned, (count) => count > 0);
  } finally {
    database.close();
  }
}

/** Waits until some processes of the stack run, and others do not yet. */
async function partOfBoot(stateDir: string): Promise<RunFile> {
  const file = await until(
    async () => readRunFile(stateDir),
    (read) => (read?.processes.length ?? 0) >= 3,
  );
  if (file === undefined) throw new Error('no run.json');
  return file;
}

function stillRunning(file: RunFile): string[] {
  return file.processes.filter(({ pid, identity }) => processIdentity(pid) === identity).map(({ name }) => name);
}

function groupOf(running: Running): number {
  return -(running.child.pid ?? 0);
}

/** Everything that it prints, logs or leaves in a file that others may read. */
function expectNoSecretShown({ stack, file }: Started, stateDir: string): void {
  const names = ['encryption-keys', 'codec-token', 'codec-ui-capability'];
  const secrets = names.map((name) => readFileSync(join(stateDir, 'keys', name), 'utf8').trim());
  const logs = file.processes.map(({ name }) => readFileSync(join(stateDir, 'logs', `${name}.log`), 'utf8'));
  const printed = [stack.output(), ...logs, readFileSync(join(stateDir, 'run.json'), 'utf8')].join('\n');
  for (const secret of [...secrets, 'sandbox-private-key']) expect(printed).not.toContain(secret);
  for (const name of names) expect(statSync(join(stateDir, 'keys', name)).mode & 0o077).toBe(0);
}

/** A server on a port that nobody else may take then. */
async function takenPort(): Promise<{ port: number; free(): void }> {
  const holder = createServer();
  await new Promise<void>((listening) => holder.listen(0, '127.0.0.1', listening));
  return { port: (holder.address() as { port: number }).port, free: () => holder.close() };
}

// Connections stay open: one that is closed while the SDK means to retry a call fails outside of any promise.
describe('npm start', () => {
  test('serves, keeps closed flows for 365 days, tells no secret, and one Ctrl-C ends every process with exit code 0', async () => {
    const stateDir = temporaryFolder();
    const taken = await takenPort();
    const { stack, file } = await startStack(stateDir, { HOLDFAST_SANDBOX_PORT: String(taken.port) });
    expect(file.processes.map(({ name }) => name).sort()).toEqual([
      'codec',
      'console',
      'sandbox',
      'temporal',
      'webhook',
      'worker',
    ]);
    const health = await fetch(`${file.sandbox?.url}/sandbox/health`);
    expect(health.status).toBe(200);
    const page = await fetch(file.console?.url ?? '');
    expect(await page.text()).toContain('Holdfast console');
    expect(stack.output()).toMatch(new RegExp(`HOLDFAST_SANDBOX_PORT \\(${taken.port} is taken: using \\d+\\)`));
    taken.free();
    expectNoSecretShown({ stack, file }, stateDir);

    const second = startScript([join(root, 'tools', 'start.mjs'), '--no-demo'], stackEnvironment(stateDir));
    expect((await second.ended).code).toBe(1);
    expect(second.output()).toMatch(/Holdfast already runs in this folder/);

    const connection = await Connection.connect({ address: file.temporal?.address ?? '' });
    expect((await readNamespace(connection, 'default'))?.retentionDays).toBe(365);
    await closeOneFlow(connection);
    await untilKeptFor(join(stateDir, 'temporal.db'), 364);

    // A terminal sends the signal to the whole group.
    process.kill(groupOf(stack), 'SIGINT');
    expect(await stack.ended).toEqual({ code: 0, signal: null });
    expect(stillRunning(file)).toEqual([]);
    expect(readRunFile(stateDir)).toBeUndefined();
  });

  test('Ctrl-C pressed again and again leaves nothing behind', async () => {
    const stateDir = temporaryFolder();
    const { stack, file } = await startStack(stateDir);
    const pressing = setInterval(() => stack.child.exitCode ?? process.kill(groupOf(stack), 'SIGINT'), 100);
    await stack.ended;
    clearInterval(pressing);
    expect(stillRunning(file)).toEqual([]);
    expect(readRunFile(stateDir)).toBeUndefined();
  });

  test('Ctrl-C during the boot ends what was already started', async () => {
    const stateDir = temporaryFolder();
    const stack = startScript([join(root, 'tools', 'start.mjs'), '--no-demo'], stackEnvironment(stateDir));
    const file = await partOfBoot(stateDir);
    process.kill(groupOf(stack), 'SIGINT');
    expect(await stack.ended).toEqual({ code: 0, signal: null });
    expect(stillRunning(file)).toEqual([]);
    expect(stack.output().split('\n')).not.toContain('ready');
  });

  test('a stack that was killed without warning does not keep the next one from starting, with the flows of the first', async () => {
    const stateDir = temporaryFolder();
    const first = await startStack(stateDir);
    const started = await Connection.connect({ address: first.file.temporal?.address ?? '' });
    await new Client({ connection: started }).workflow.start('charge', {
      workflowId: 'kept',
      taskQueue: 'a-queue-without-workers',
    });
    first.stack.child.kill('SIGKILL');

    const second = await startStack(stateDir);
    expect(stillRunning(first.file)).toEqual([]);
    const connection = await Connection.connect({ address: second.file.temporal?.address ?? '' });
    const found = await new Client({ connection }).workflow.getHandle('kept').describe();
    expect(found.status.name).toBe('RUNNING');
  });

  test('serves, and so does holdfast there, where variables name a proxy that reaches nothing of this machine', async () => {
    const stateDir = temporaryFolder();
    const proxies = { http_proxy: NOWHERE, https_proxy: NOWHERE, grpc_proxy: NOWHERE, no_proxy: 'localhost' };
    const { file } = await startStack(stateDir, proxies);
    expect((await fetch(`${file.webhook?.url}/ready`)).status).toBe(200);
    const asked = startScript([join(root, 'tools', 'holdfast.mjs'), 'list'], stackEnvironment(stateDir, proxies));
    expect([(await asked.ended).code, asked.output()]).toEqual([0, expect.stringMatching(/^No such flow/)]);
  });

  test('its processes reach it directly at an address of this machine that is not loopback, and what no_proxy names stays', async () => {
    const settings = { ...(await readSettings(stackEnvironment(temporaryFolder()), '/state')), host: '10.9.8.7' };
    const exempt = (env: NodeJS.ProcessEnv) => childEnv(settings, env)['no_grpc_proxy'];
    expect(exempt({})).toBe('10.9.8.7');
    expect(exempt({ no_proxy: 'localhost,.corp' })).toBe('localhost,.corp,10.9.8.7');
    expect(exempt({ no_proxy: 'localhost', no_grpc_proxy: 'grpc.corp' })).toBe('grpc.corp,10.9.8.7');
  });

  test('does not wait for ever for a Temporal that runs and can not be reached, and says why', async () => {
    const waiting = connectWhenReady(new URL(NOWHERE).host, 'default', () => undefined, 300);
    await expect(waiting).rejects.toThrow(/^Temporal does not answer at 127\.0\.0\.1:9 within 0\.3 s: .*ECONNREFUSED/);
  });

  test('faults of the configuration are told all at once, before anything is started', async () => {
    const stateDir = temporaryFolder();
    const faults = { HOLDFAST_LOG_LEVEL: 'loud', HOLDFAST_API_VERSION: '9.9.9' };
    const stack = startScript([join(root, 'tools', 'start.mjs'), '--no-demo'], stackEnvironment(stateDir, faults));
    expect((await stack.ended).code).toBe(1);
    expect(stack.output()).toMatch(/HOLDFAST_LOG_LEVEL="loud"/);
    expect(stack.output()).toMatch(/HOLDFAST_API_VERSION="9.9.9"/);
    expect(readRunFile(stateDir)).toBeUndefined();
  });
});
