import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe as group, expect, test, vi } from 'vitest';
import { loadCodecConfig, loadConfig, unknownNames } from '../../src/config/index.js';
import { env, faultsOf, key } from './support.js';

/** Why each is worse than a default: money could move twice, or anybody's events be taken. */
const MISSPELT = ['HOLDFAST_REFERENCEBOOK_URL', 'HOLDFAST_RESTORE_TO', 'HOLDFAST_WEBHOOK_SENDER'];
const SECRET = 'postgres://user:hunter2@db/book';
const codec = (more: NodeJS.ProcessEnv) => ({
  HOLDFAST_ENCRYPTION_KEYS: `k1:${key(1)}`,
  HOLDFAST_CODEC_TOKEN: 'token-token-token',
  HOLDFAST_CODEC_UI_CAPABILITY: 'c'.repeat(30),
  ...more,
});

group('a HOLDFAST_ variable that no process knows', () => {
  const misspelt = Object.fromEntries(MISSPELT.map((name) => [name, SECRET]));

  test('is a fault of every process of our own, and its value is never shown', () => {
    const faults = MISSPELT.map(
      (name) =>
        `${name} is set, and nothing of Holdfast reads it: correct its name (docs/configuration.md), or unset it`,
    );
    expect(faultsOf(() => loadConfig(env(misspelt)))).toEqual(faults);
    expect(faultsOf(() => loadConfig(env(misspelt), { tells: false }))).toEqual(faults);
    expect(faultsOf(() => loadCodecConfig(codec(misspelt)))).toEqual(faults);
  });

  test('is none where it is empty, as compose leaves it, and no matter of other prefixes', () => {
    const others = { HOLDFAST_RESTORE_TO: ' ', HOLDFAST: '1', MY_HOLDFAST_THING: '1', holdfast_thing: '1' };
    expect(faultsOf(() => loadConfig(env(others)))).toEqual([]);
  });

  test('is none where it is known to another process: one file may hold the variables of all', () => {
    const all = codec(env({ HOLDFAST_SANDBOX_PENDING_MS: '5', HOLDFAST_CONSOLE_PORT: '4040', HOLDFAST_FULL: '1' }));
    expect(faultsOf(() => loadConfig(all))).toEqual([]);
    expect(faultsOf(() => loadCodecConfig(all))).toEqual([]);
  });

  test('is none where Kubernetes sets it for a Service, which is no number of a port', () => {
    const links = {
      HOLDFAST_PORT: 'tcp://10.0.0.7:80',
      HOLDFAST_WEBHOOKS_PORT: 'tcp://10.0.0.7:4020',
      HOLDFAST_WEBHOOKS_PORT_4020_TCP: 'tcp://10.0.0.7:4020',
      HOLDFAST_WEBHOOKS_PORT_4020_TCP_ADDR: '10.0.0.7',
      HOLDFAST_WEBHOOKS_SERVICE_HOST: '10.0.0.7',
      HOLDFAST_WEBHOOKS_SERVICE_PORT_EVENTS: '4020',
    };
    expect(faultsOf(() => loadConfig(env(links)))).toEqual([]);
    expect(faultsOf(() => loadConfig(env({ HOLDFAST_WEBHOOKS_PORT: '4020' })))).toEqual([
      expect.stringMatching(/^HOLDFAST_WEBHOOKS_PORT is set, and nothing/),
    ]);
  });

  test('is a warning where a merchant embeds the workers: it may be one of their own', async () => {
    const warned: string[] = [];
    // Another file may have loaded the workers with their own logger.
    vi.resetModules();
    vi.doMock('../../src/security/logging.js', async (original) => ({
      ...(await original<object>()),
      createLogger: () => ({ info: () => undefined, warn: (...words: string[]) => warned.push(...words) }),
    }));
    const { createWorkers } = await import('../../workers/holdfast-workers.js');
    for (const [name, value] of Object.entries(env(misspelt))) vi.stubEnv(name, value);
    // It ends before it connects.
    await expect(createWorkers({ signal: AbortSignal.abort(new Error('enough')) })).rejects.toThrow();
    vi.unstubAllEnvs();
    vi.doUnmock('../../src/security/logging.js');
    vi.resetModules();
    expect(warned.filter((words) => words.includes('nothing of Holdfast reads it'))).toEqual(
      MISSPELT.map((name) => expect.stringContaining(`${name} is set`) as string),
    );
    expect(warned.join()).not.toContain('hunter2');
  });
});

test('every name that sources, tools, tests and pages have is known', () => {
  const root = resolve(import.meta.dirname, '../..');
  const folders = ['src', 'activities', 'workers', 'sandbox', 'tools', 'test', 'deploy', 'docs', 'examples', '.ci'];
  const within = folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name))
      .filter((path) => !/node_modules|test\/replay\/(histories|local)|unknown-names/.test(path)),
  );
  const above = ['docker-compose.yml', 'Dockerfile', 'README.md', 'vitest.config.mjs'].map((file) => join(root, file));
  const names = [...within, ...above].flatMap(
    (path) => readFileSync(path, 'utf8').match(/\bHOLDFAST_[A-Z0-9_]*[A-Z0-9]\b/g) ?? [],
  );
  const madeUp = ['HOLDFAST_ENV', 'HOLDFAST_THING_PORT', 'HOLDFAST_X', 'HOLDFAST_X_PORT'];
  expect(names.length).toBeGreaterThan(500);
  expect(unknownNames(Object.fromEntries(names.map((name) => [name, '1'])))).toEqual(madeUp);
});
