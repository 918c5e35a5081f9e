import { readdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe as group, expect, test } from 'vitest';
import { describe, loadCodecConfig, loadConfig, secretsOf } from '../../src/config/index.js';
import { DEMO_SECRETS } from '../../src/config/known-secrets.js';
import { EMBEDDED_NOTIFY_SECRET } from '../../src/config/schema.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { key, UNITS, env, units, faultsOf } from './support.js';

group('loadConfig', () => {
  test('has the documented defaults', () => {
    const config = loadConfig(env({ HOLDFAST_STATE_DIR: undefined, HOLDFAST_LOG_LEVEL: '' }));
    expect(config).toMatchObject({
      embedded: false,
      environment: 'test',
      apiBaseUrl: 'https://api.example.com',
      apiVersion: '1.3.0',
      bindAddress: '127.0.0.1',
      stateDir: resolve('.holdfast'),
      logLevel: 'info',
      ports: { sandbox: 4010, webhook: 4020, webhookMetrics: 9465, workerMetrics: 9464, codec: 4030 },
    });
    expect(describe(config).filter((line) => line.includes('undefined'))).toEqual([]);
    expect(config.businessUnits.get('default')).toEqual({
      name: 'default',
      appId: 'app-1',
      privateKey: 'private-1',
      publicKey: 'public-1',
      previousPrivateKeys: [],
      apiVersion: '1.3.0',
      legacyWebhooks: false,
      holdDuration: '7 days',
    });
  });

  test('takes where providers put their consent ids, and refuses what is no name of a field', () => {
    const naming = (consentIdFields: unknown) => env(units({ default: { ...UNITS.default, consentIdFields } }));
    const fields = { A: 'scheme_reference', '*': 'additional_information.trace' };
    expect(loadConfig(naming(fields)).businessUnits.get('default')?.consentIdFields).toEqual(fields);
    for (const [field, fault] of [
      ['a b', 'consentIdFields.A: is not the name of a field'],
      ['raw.inside', 'consentIdFields: only additional_information.<name> may hold a dot'],
    ]) {
      expect(faultsOf(() => loadConfig(naming({ A: field })))).toEqual([expect.stringContaining(fault ?? '')]);
    }
  });

  test('takes the name of the build as the Worker Controller sets it too, and refuses two names of one build', () => {
    const named = (more: NodeJS.ProcessEnv) => {
      const { buildId, deploymentName } = loadConfig(env(more));
      return { buildId, deploymentName };
    };
    expect(named({})).toEqual({ buildId: undefined, deploymentName: 'holdfast' });
    expect(named({ HOLDFAST_BUILD_ID: 'a1', TEMPORAL_WORKER_BUILD_ID: '' })).toMatchObject({ buildId: 'a1' });
    const byController = { TEMPORAL_WORKER_BUILD_ID: 'b2', TEMPORAL_DEPLOYMENT_NAME: 'shop/holdfast' };
    expect(named(byController)).toEqual({ buildId: 'b2', deploymentName: 'shop/holdfast' });
    expect(named({ ...byController, HOLDFAST_BUILD_ID: 'b2' })).toMatchObject({ buildId: 'b2' });
    expect(faultsOf(() => named({ ...byController, HOLDFAST_BUILD_ID: 'a1' }))).toEqual([
      expect.stringContaining('TEMPORAL_WORKER_BUILD_ID is "b2"'),
    ]);
    expect(faultsOf(() => named({ TEMPORAL_DEPLOYMENT_NAME: 'a:b' }))).toEqual([
      expect.stringContaining('TEMPORAL_DEPLOYMENT_NAME="a:b"'),
    ]);
  });

  test('lists every fault at once, each with its variable', () => {
    const faults = faultsOf(() =>
      loadConfig({
        HOLDFAST_ENVIRONMENT: 'prod',
        HOLDFAST_BIND_ADDRESS: 'somewhere',
        HOLDFAST_LOG_LEVEL: 'loud',
        HOLDFAST_SANDBOX_PORT: '70000',
        HOLDFAST_CODEC_PORT: '4030.5',
        HOLDFAST_EMBEDDED: 'yes',
        HOLDFAST_API_VERSION: '2.0.0',
      }),
    );
    expect(faults).toHaveLength(10);
    expect(faults).toContain('HOLDFAST_ENVIRONMENT="prod": use one of test, live');
    expect(faults).toContain('HOLDFAST_SANDBOX_PORT="70000": use a port from 0 to 65535 (0: any free port)');
    for (const name of ['API_BASE_URL', 'BUSINESS_UNITS', 'ENCRYPTION_KEYS']) {
      expect(faults.join('\n')).toContain(`HOLDFAST_${name} is not set`);
    }
  });

  test.each([
    ['an address to bind to that is a name', 'HOLDFAST_BIND_ADDRESS', 'example.com'],
    ['an address to bind to with a port', 'HOLDFAST_BIND_ADDRESS', '127.0.0.1:80'],
    ['a notification secret that is none', 'HOLDFAST_NOTIFY_SECRET', 'x'.repeat(15)],
    ['a host of notifications with a path', 'HOLDFAST_NOTIFY_HOSTS', 'shop.example/hooks'],
    ['a sender that is a name', 'HOLDFAST_WEBHOOK_SENDERS', 'service,api.example.com'],
    ['a sender with too long a prefix', 'HOLDFAST_WEBHOOK_SENDERS', '203.0.113.0/33'],
    ['senders of whom none is named', 'HOLDFAST_WEBHOOK_SENDERS', ','],
    ['hosts of notifications of which none is named', 'HOLDFAST_NOTIFY_HOSTS', ', ,'],
    ['proxies that are everybody', 'HOLDFAST_TRUSTED_PROXIES', '10.0.0.1,0.0.0.0/0'],
    ['proxies that are everybody by IPv6', 'HOLDFAST_TRUSTED_PROXIES', '::/00'],
    ['a proxy that is no range', 'HOLDFAST_TRUSTED_PROXIES', '10.0.0.1,10.0.0'],
  ])('refuses %s, with its variable and no secret', (_name, variable, value) => {
    const faults = faultsOf(() => loadConfig(env({ [variable]: value })));
    expect(faults).toEqual([expect.stringMatching(new RegExp(`^${variable}[:=]`))]);
    if (variable === 'HOLDFAST_NOTIFY_SECRET') expect(faults.join()).not.toContain(value);
  });

  test('takes every address, secret and sender of its form', () => {
    for (const address of ['127.0.0.1', '0.0.0.0', '::1', 'localhost']) {
      expect(loadConfig(env({ HOLDFAST_BIND_ADDRESS: address })).bindAddress).toBe(address);
    }
    const notifySecrets = [1, 2].map((byte) => `whsec_${Buffer.alloc(24, byte).toString('base64')}`);
    const notify = {
      HOLDFAST_NOTIFY_SECRET: notifySecrets.join(),
      HOLDFAST_NOTIFY_HOSTS: 'shop.example,*.shop.example',
    };
    expect(loadConfig(env(notify))).toMatchObject({
      notifySecrets,
      notifyHosts: ['shop.example', '*.shop.example'],
      notifyPrivate: false,
    });
    const senders = { HOLDFAST_WEBHOOK_SENDERS: '203.0.113.0/32, 2001:db8::1', HOLDFAST_TRUSTED_PROXIES: '10.0.0.0/8' };
    expect(loadConfig(env(senders))).toMatchObject({
      webhookSenders: ['203.0.113.0/32', '2001:db8::1'],
      trustedProxies: ['10.0.0.0/8'],
    });
  });

  test('refuses an address over which a live private key would travel in the clear', () => {
    const long = units({ default: { appId: 'app-1', privateKey: 'live-private-key' } });
    const plain = { HOLDFAST_API_BASE_URL: 'http://api.example.com', ...long };
    expect(loadConfig(env(plain)).apiBaseUrl).toBe('http://api.example.com');
    expect(faultsOf(() => loadConfig(env({ ...plain, HOLDFAST_ENVIRONMENT: 'live' })))).toEqual([
      expect.stringMatching(/must start with https/),
    ]);
  });

  test('refuses keys that everybody knows, or could guess, for live money alone', () => {
    const privateKey = 'live-private-key-of-the-shop';
    const known = { default: { appId: 'app-1', privateKey: 'sandbox-private-key', publicKey: 'sandbox-public-key' } };
    const second = {
      default: { appId: 'app-1', privateKey },
      old: { appId: 'app-2', privateKey: 'sandbox-private-key' },
    };
    const short = { default: { appId: 'app-1', privateKey, previousPrivateKeys: ['fifteen-letters'] } };
    const notify = { HOLDFAST_NOTIFY_SECRET: EMBEDDED_NOTIFY_SECRET };
    const live = (changes: Record<string, string>) =>
      faultsOf(() =>
        loadConfig(
          env({ ...units({ default: { appId: 'app-1', privateKey } }), ...changes, HOLDFAST_ENVIRONMENT: 'live' }),
        ),
      );
    expect(live({})).toEqual([]);
    expect(live(units(known))).toEqual([
      expect.stringMatching(/default: privateKey is a key of the sandbox, which everybody knows/),
      expect.stringMatching(/default: publicKey is a key of the sandbox/),
    ]);
    expect(live(units(second))).toEqual([expect.stringMatching(/old: privateKey is a key of the sandbox/)]);
    expect(live(units(short))).toEqual([
      expect.stringMatching(/default: previousPrivateKeys.0 is shorter than 16 characters/),
    ]);
    expect(live(notify)).toEqual([expect.stringMatching(/HOLDFAST_NOTIFY_SECRET: is that of npm start/)]);
    const { encryptionKey, notifySecret, codecToken, codecUiCapability } = DEMO_SECRETS;
    const demo = {
      HOLDFAST_ENCRYPTION_KEYS: `k1:${key(1)},old:${encryptionKey}`,
      HOLDFAST_NOTIFY_SECRET: notifySecret,
    };
    const whatToDo =
      'is that of deploy/demo.env, which everybody knows; HOLDFAST_ENVIRONMENT="live" takes one of your own';
    expect(live(demo)).toEqual([
      `HOLDFAST_ENCRYPTION_KEYS: key "old": ${whatToDo}: k1:$(openssl rand -base64 32)`,
      `HOLDFAST_NOTIFY_SECRET: ${whatToDo}: whsec_$(openssl rand -base64 32)`,
    ]);
    const codec = {
      HOLDFAST_ENCRYPTION_KEYS: `demo:${encryptionKey}`,
      HOLDFAST_CODEC_TOKEN: codecToken,
      HOLDFAST_CODEC_UI_CAPABILITY: codecUiCapability,
    };
    expect(faultsOf(() => loadCodecConfig({ ...codec, HOLDFAST_ENVIRONMENT: 'live' }))).toEqual([
      `HOLDFAST_ENCRYPTION_KEYS: key "demo": ${whatToDo}: k1:$(openssl rand -base64 32)`,
      `HOLDFAST_CODEC_TOKEN: ${whatToDo}: $(openssl rand -hex 32)`,
      `HOLDFAST_CODEC_UI_CAPABILITY: ${whatToDo}: $(openssl rand -hex 32)`,
    ]);
    expect(faultsOf(() => loadCodecConfig(codec))).toEqual([]);
    for (const taken of [units(known), units(second), units(short), notify, demo]) {
      expect(faultsOf(() => loadConfig(env(taken)))).toEqual([]);
    }
  });

  test.each([
    'not an address',
    'ftp://api.example.com',
    'https://api.example.com?key=1',
    'https://user:hunter22@api.example.com',
    'https://user:hunter22/@api.example.com',
    'https:/user:hunter22@api.example.com',
    'https:user:hunter22@api.example.com',
  ])('refuses %s as the address of the service, without showing a password', (address) => {
    const faults = faultsOf(() => loadConfig(env({ HOLDFAST_API_BASE_URL: address })));
    expect(faults).toHaveLength(1);
    expect(faults.join()).not.toContain('hunter22');
  });
});

group('the embedded mode', () => {
  test('uses the sandbox and one key file for all processes', () => {
    const embedded = { HOLDFAST_EMBEDDED: '1', HOLDFAST_STATE_DIR: temporaryFolder(), HOLDFAST_SANDBOX_PORT: '4999' };
    const config = loadConfig(embedded);
    expect(config.apiBaseUrl).toBe('http://127.0.0.1:4999');
    expect(config.businessUnits.get('default')).toMatchObject({ appId: 'holdfast-sandbox', riskUnit: 'default' });
    const codec = loadCodecConfig(embedded);
    expect(codec.keySource).toBe(config.keySource);
    expect(codec.keyRing.find(config.keyRing.currentId)?.equals(config.keyRing.find(config.keyRing.currentId)!)).toBe(
      true,
    );
    expect(codec.codecToken).toMatch(/^[\w-]{43}$/);
    expect(loadCodecConfig(embedded).codecUiCapability).toBe(codec.codecUiCapability);
    expect(codec.codecUiCapability).not.toBe(codec.codecToken);
  });

  test('makes no file while there is a fault', () => {
    const stateDir = temporaryFolder();
    const embedded = { HOLDFAST_EMBEDDED: '1', HOLDFAST_STATE_DIR: stateDir, HOLDFAST_UI_ORIGINS: '*' };
    expect(faultsOf(() => loadCodecConfig(embedded))).toHaveLength(1);
    expect(readdirSync(stateDir)).toEqual([]);
  });

  test('is refused against the live service', () => {
    const live = { HOLDFAST_EMBEDDED: '1', HOLDFAST_ENVIRONMENT: 'live', HOLDFAST_STATE_DIR: temporaryFolder() };
    const refused = expect.stringContaining('HOLDFAST_EMBEDDED=1');
    expect(faultsOf(() => loadConfig(live))).toContainEqual(refused);
    expect(faultsOf(() => loadCodecConfig(live))).toEqual([refused]);
  });
});

group('describe', () => {
  test('prints the settings in force, and of a secret only whether it is set', () => {
    const secrets = { HOLDFAST_CODEC_TOKEN: 'token-token-token', HOLDFAST_CODEC_UI_CAPABILITY: 'c'.repeat(30) };
    const config = loadConfig(env(units({ default: { ...UNITS.default, previousPrivateKeys: ['private-0'] } })));
    const codec = loadCodecConfig(env(secrets));
    const text = [...describe(config), ...describe(codec)].join('\n');
    expect(text).toContain('HOLDFAST_ENCRYPTION_KEYS: set (k1; from HOLDFAST_ENCRYPTION_KEYS)');
    expect(text).toContain('private key set, previous private keys 1, public key set, risk unit none');
    expect(text).toContain('HOLDFAST_CODEC_TOKEN: set');
    const all = [...secretsOf(config), ...secretsOf(codec)];
    expect(all).toEqual(['private-1', 'private-0', 'token-token-token', 'c'.repeat(30)]);
    for (const secret of [...all, key(1)]) expect(text).not.toContain(secret);
    const senders = (list?: string) => describe(loadConfig(env({ HOLDFAST_WEBHOOK_SENDERS: list })));
    expect(senders()).toContain('HOLDFAST_WEBHOOK_SENDERS=anybody');
    expect(senders('10.0.0.1, ::1')).toContain('HOLDFAST_WEBHOOK_SENDERS=10.0.0.1,::1');
  });
});
