import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Connection } from '@temporalio/client';
import { environmentOf as engineEnvironment, holdfast } from '../cli/command.js';
import { freePort } from '../../tools/stack/ports.js';
import { startReadyProcess } from '../../tools/stack/ready-process.js';
import { environmentOf } from '../../tools/stack/services.js';
import { TEST_ENCRYPTION_KEYS } from '../support/data-converter.js';
import { temporalAddress } from '../support/temporal.js';

const NAMESPACE = 'holdfast-not-set-up';
/** Longer than a worker needs to become ready, in ms. */
const A_WHILE = 6_000;

const stateDir = mkdtempSync(join(tmpdir(), 'holdfast-awaits-setup-'));
afterAll(() => rmSync(stateDir, { recursive: true, force: true }));

let env: NodeJS.ProcessEnv;
const LIVE = {
  HOLDFAST_ENVIRONMENT: 'live',
  HOLDFAST_API_BASE_URL: 'https://api.example.com',
  HOLDFAST_BUSINESS_UNITS: JSON.stringify({ default: { appId: 'shop', privateKey: 'long-enough-for-live' } }),
};

beforeAll(async () => {
  const address = await temporalAddress();
  const connection = await Connection.connect({ address });
  await connection.workflowService.registerNamespace({
    namespace: NAMESPACE,
    workflowExecutionRetentionPeriod: { seconds: 86_400 as never },
  });
  await connection.close();
  env = environmentOf({
    engine: { address, namespace: NAMESPACE },
    stateDir,
    env: { HOLDFAST_ENCRYPTION_KEYS: TEST_ENCRYPTION_KEYS, HOLDFAST_API_BASE_URL: 'http://127.0.0.1:9' },
  });
});

const startWorker = (more: NodeJS.ProcessEnv = {}) =>
  startReadyProcess('dist/workers/worker.js', { env: { ...env, ...more } });

test('under npm start a worker whose namespace is not right ends at once, and says why', async () => {
  await expect(startWorker({ HOLDFAST_EMBEDDED: '1' })).rejects.toThrow(
    /ended with 1:[^]*is marked neither for "test" nor for "live"[^]*lacks search attributes/,
  );
});

test('elsewhere it says so once, is not ready, and begins by itself once holdfast setup has run', async () => {
  const port = await freePort();
  const starting = startWorker({ HOLDFAST_WORKER_METRICS_PORT: String(port), HOLDFAST_BUILD_ID: 'b1' });
  const ready = starting.then(() => 'ready');
  expect(await Promise.race([ready, sleep(A_WHILE, 'waits')])).toBe('waits');
  const ask = async (path: string): Promise<[number, string]> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`);
    return [answer.status, await answer.text()];
  };
  expect(await ask('/health')).toEqual([200, '{"status":"ok"}']);
  expect(await ask('/ready')).toEqual([503, expect.stringMatching(/marked neither[^]*run holdfast setup/)]);

  const env = { ...(await engineEnvironment(NAMESPACE)), HOLDFAST_ENVIRONMENT: 'test' };
  const ran = await holdfast(env, ['setup', '--retention-days', '40']);
  expect(ran).toMatchObject({ code: 0, err: '' });
  expect(ran.out).toMatch(/40 days \(was 1\)[^]*registered search attributes[^]*marked the namespace for "test"/);

  const worker = await starting;
  try {
    const [status, body] = await ask('/ready');
    expect([status, JSON.parse(body)]).toMatchObject([
      200,
      { status: 'ready', workers: { holdfast: 'RUNNING', 'holdfast-billing': 'RUNNING' }, version: { buildId: 'b1' } },
    ]);
    expect(await ask('/metrics')).toEqual([200, expect.stringContaining('holdfast_codec_undecodable')]);
    const said = worker
      .logs()
      .split('\n')
      .filter((line) => line.includes('Not ready'));
    expect(said).toHaveLength(1);
    expect(said[0]).toMatch(/marked neither[^]*lacks search attributes[^]*run holdfast setup/);
  } finally {
    expect(await worker.stop()).toBe(0);
  }
});

test('with a namespace of the other environment it waits too, and a signal ends that', async () => {
  const stop = new AbortController();
  const starting = startReadyProcess('dist/workers/worker.js', { env: { ...env, ...LIVE }, signal: stop.signal });
  const ended = expect(starting).rejects.toThrow(/ended with 0:[^]*Not ready:[^]*is one for \\"test\\"/);
  await sleep(A_WHILE);
  stop.abort();
  await ended;
});
