import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { Connection } from '@temporalio/client';
import { connectHoldfast } from '../../src/client/connect.js';
import type { HoldfastClient } from '../../src/client/holdfast-client.js';
import { registerSearchAttributes } from '../../src/client/set-up-namespace.js';
import { type Services, startServices } from '../../tools/stack/services.js';
import { holdfast as command } from '../cli/command.js';
import { CARDS, chargeInput } from '../support/charges.js';
import {
  type Authority,
  createAuthority,
  type Pair,
  replacePair,
  whyNoCertificates,
} from '../support/cloud-certificates.js';
import { type CloudProxy, openCloudProxy } from '../support/cloud-proxy.js';
import { TEST_ENCRYPTION_KEYS } from '../support/data-converter.js';
import { temporalAddress } from '../support/temporal.js';
import { until } from '../support/until.js';

const why = whyNoCertificates();
if (why !== undefined) process.stderr.write(`A Temporal like the managed one is NOT tried, skipped: ${why}\n`);
const withCertificates = why === undefined ? describe : describe.skip;

/** Longer than a process needs to read renewed settings, and to connect anew. */
const RENEWED_WITHIN_MS = 60_000;
/** Each waits several times for settings to be read again. */
const LIMIT_MS = 300_000;
const RETENTION_S = 90 * 86_400;

const folder = mkdtempSync(join(tmpdir(), 'holdfast-cloud-'));
let authority: Authority;
let own: Pair;
let behind: Connection;
beforeAll(async () => {
  behind = await Connection.connect({ address: await temporalAddress() });
  if (why !== undefined) return;
  authority = createAuthority(folder, 'servers');
  own = authority.issue('temporal');
});
afterAll(async () => {
  await behind.close();
  rmSync(folder, { recursive: true, force: true });
});

/** As somebody orders a namespace: 90 days are the most, and nothing of ours is in it. */
async function orderNamespace(namespace: string): Promise<void> {
  const workflowExecutionRetentionPeriod = { seconds: RETENTION_S as never };
  await behind.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
}

/** A Temporal that was ordered, what is needed to reach it, and later the processes that do. */
class Place {
  readonly namespace: string;
  readonly proxy: CloudProxy;
  readonly env: Record<string, string>;
  services: Services | undefined;
  client: HoldfastClient | undefined;

  constructor(namespace: string, proxy: CloudProxy, env: Record<string, string>) {
    this.namespace = namespace;
    this.proxy = proxy;
    this.env = {
      ...env,
      TEMPORAL_ADDRESS: proxy.address,
      TEMPORAL_NAMESPACE: namespace,
      HOLDFAST_ENVIRONMENT: 'test',
      HOLDFAST_ENCRYPTION_KEYS: TEST_ENCRYPTION_KEYS,
    };
    for (const [name, value] of Object.entries(this.env)) vi.stubEnv(name, value);
  }

  run = (...args: string[]) => command(this.env, args);

  async start(): Promise<Services> {
    const engine = { address: this.proxy.address, namespace: this.namespace };
    const { TEMPORAL_ADDRESS: _address, ...env } = this.env;
    const sandboxEnv = { HOLDFAST_SANDBOX_PENDING_MS: '1500' };
    this.services = await startServices({ engine, stateDir: join(folder, this.namespace), env, sandboxEnv });
    this.client = await connectHoldfast();
    return this.services;
  }

  /** A charge that an event settles. */
  async charge(): Promise<string> {
    if (this.services === undefined) throw new Error('nothing runs yet');
    const input = await chargeInput(this.services.sandbox, CARDS.pendsThenSucceeds);
    expect(await this.client?.charge(input)).toMatchObject({ status: 'pending' });
    const status = await until(
      async () => await this.client?.status(input.reference),
      (answer) => answer?.outcome !== undefined,
    );
    expect(status?.outcome).toMatchObject({ status: 'succeeded', evidence: { knownBy: 'webhook' } });
    return input.reference;
  }

  async ready(of: 'worker' | 'webhook'): Promise<[number, string]> {
    const url = of === 'worker' ? this.services?.worker().url : this.services?.webhookUrl;
    const answer = await fetch(new URL('/ready', url));
    return [answer.status, await answer.text()];
  }

  async untilReady(of: 'worker' | 'webhook', wanted: 200 | 503): Promise<string> {
    const [, text] = await until(
      () => this.ready(of),
      ([status]) => status === wanted,
      RENEWED_WITHIN_MS,
    );
    return text;
  }

  async close(): Promise<void> {
    await this.client?.close();
    await this.services?.close(10_000);
    this.proxy.close();
    vi.unstubAllEnvs();
  }
}

let place: Place;
afterEach(async () => place.close());

async function setUpAndPay(): Promise<void> {
  const first = await place.run('setup');
  expect(first).toMatchObject({ code: 1, out: expect.stringContaining('by workflow holdfast-environment') });
  expect(first.err).toMatch(/refused this login a change[^]*tcld namespace search-attributes add/);
  expect(first.out).toContain('kept for 90 days: without a reference book never use a reference again after that');
  // What it has said.
  await registerSearchAttributes(behind, place.namespace);
  expect(
    await until(
      () => place.run('setup'),
      ({ code }) => code === 0,
    ),
  ).toMatchObject({ code: 0 });

  const asked = place.proxy.refused.length;
  await place.start();
  expect(await place.untilReady('worker', 200)).toContain('"RUNNING"');
  await place.untilReady('webhook', 200);
  const reference = await place.charge();
  expect(await place.run('show', reference)).toMatchObject({ code: 0, out: expect.stringContaining('succeeded') });
  const listed = await until(
    () => place.run('list'),
    ({ out }) => out.includes(reference),
  );
  expect(listed).toMatchObject({ code: 0, err: '' });
  expect(place.proxy.refused.slice(asked)).toEqual([]);
}

withCertificates('a Temporal that refuses operators, and keeps closed flows for 90 days', () => {
  test(
    'is used with client certificates, which are renewed without a restart, also after they have lapsed',
    async () => {
      const clients = createAuthority(folder, 'clients');
      const others = createAuthority(folder, 'other-clients');
      const used = clients.issue('holdfast');
      const proxy = await openCloudProxy({ target: await temporalAddress(), own, clientAuthority: clients.cert });
      place = new Place('cloud-by-certificate', proxy, {
        TEMPORAL_TLS_SERVER_CA_CERT_PATH: authority.cert,
        TEMPORAL_TLS_CLIENT_CERT_PATH: used.cert,
        TEMPORAL_TLS_CLIENT_KEY_PATH: used.key,
      });
      await orderNamespace(place.namespace);
      await setUpAndPay();
      const { pid } = place.services?.worker().process ?? {};
      const { TEMPORAL_TLS_SERVER_CA_CERT_PATH: _ca, ...withoutCa } = place.env;
      expect((await command(withoutCa, ['list'])).err).toMatch(/server's certificate is not to be trusted/);
      const { TEMPORAL_TLS_CLIENT_CERT_PATH: _cert, TEMPORAL_TLS_CLIENT_KEY_PATH: _key, ...withoutOwn } = place.env;
      expect((await command(withoutOwn, ['list'])).err).toMatch(/server refuses the client's certificate/);

      replacePair(used, clients.issue('holdfast', -1));
      proxy.cut();
      const lapsed = /the client certificate has lapsed on [^]*TEMPORAL_TLS_CLIENT_CERT_PATH/;
      expect(await place.untilReady('worker', 503)).toMatch(lapsed);
      expect(await place.untilReady('webhook', 503)).toMatch(lapsed);
      expect(await place.run('list')).toMatchObject({ code: 1, err: expect.stringMatching(lapsed) });
      expect(place.services?.worker().logs()).toMatch(lapsed);

      replacePair(used, others.issue('holdfast'));
      proxy.trust(others.cert);
      proxy.cut();
      await place.untilReady('worker', 200);
      await place.untilReady('webhook', 200);
      await place.charge();
      expect(place.services?.worker().process.pid).toBe(pid);
    },
    LIMIT_MS,
  );

  test(
    'is used with an API key, which is renewed without a restart',
    async () => {
      const profile = join(folder, 'temporal.toml');
      const writeKey = (apiKey: string): void => {
        const lines = ['[profile.default]', `api_key = "${apiKey}"`, '[profile.default.tls]'];
        writeFileSync(`${profile}.new`, [...lines, `server_ca_cert_path = "${authority.cert}"`, ''].join('\n'));
        renameSync(`${profile}.new`, profile);
      };
      writeKey('first-key');
      const proxy = await openCloudProxy({ target: await temporalAddress(), own, apiKey: 'first-key' });
      place = new Place('cloud-by-key', proxy, { TEMPORAL_CONFIG_FILE: profile });
      await orderNamespace(place.namespace);
      await setUpAndPay();
      const { pid } = place.services?.worker().process ?? {};

      proxy.takeKey('second-key');
      expect(await place.untilReady('worker', 503)).toMatch(/refuses this login[^]*Jwt is expired[^]*TEMPORAL_API_KEY/);
      expect(await place.untilReady('webhook', 503)).toMatch(/refuses this login/);
      writeKey('second-key');
      await place.untilReady('worker', 200);
      await place.untilReady('webhook', 200);
      await place.charge();
      expect(place.services?.worker().process.pid).toBe(pid);
    },
    LIMIT_MS,
  );
});
