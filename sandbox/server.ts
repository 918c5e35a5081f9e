import { setMaxListeners } from 'node:events';
import { randomBytes, randomUUID } from 'node:crypto';
import { join } from 'node:path';
import Fastify, { LogController, type FastifyInstance, type FastifyReply } from 'fastify';
import { pino, type Logger } from 'pino';
import type { Dispatcher } from 'undici';
import { ApiError, invalidRequest, ownFault } from './api-error.js';
import { businessUnit, DEFAULT_PROFILE, DEFAULT_UNIT } from './business-units.js';
import { SandboxClock, Schedule } from './schedule.js';
import type { Sandbox } from './context.js';
import { registerControlApi } from './control-api/index.js';
import { Deliveries } from './deliveries.js';
import { Faults } from './faults.js';
import { resumeHolds } from './holds.js';
import { registerOpenApi } from './openapi/document.js';
import { registerOperations } from './pipeline.js';
import { OPERATIONS } from './routes/index.js';
import { DEFAULT_SETTINGS, type Settings } from './settings.js';
import { resumeSettlements } from './settlement.js';
import { SqliteStorage, MemoryStorage, type Storage } from './storage.js';
import { Store } from './store.js';
import { putEndpoint } from './webhook-endpoints.js';

export interface EmbeddedSandboxOptions {
  /** Default: memory, so that nothing is kept after the sandbox closes. */
  storage?: Storage;
  /** Dispatcher that sends events and is not closed here. Default: own connections of the sandbox. */
  dispatcher?: Dispatcher;
  /** Returns a number from 0 up to 1, for planted faults with a probability. Default: `Math.random`. */
  random?: () => number;
  /** Endpoint registered at boot for the default business unit: all events, test environment, version 1.3.0. */
  webhookUrl?: string;
  /** These override settings that an earlier run got through the control API. */
  settings?: Partial<Settings>;
  log?: Logger;
}

export interface SandboxOptions extends Omit<EmbeddedSandboxOptions, 'storage'> {
  /** The sandbox keeps everything under `<stateDir>/sandbox/`. */
  stateDir: string;
  /** Default 0: any free port. */
  port?: number;
  /** Default 127.0.0.1. */
  host?: string;
  /** Start of the links in answers; default is the address it listens on. */
  publicUrl?: string;
}

/** A sandbox that runs inside the caller's process. */
export interface EmbeddedSandbox {
  /** It does not listen: call `inject` or `listen` on it. */
  readonly app: FastifyInstance;
  /** Continues the work of an earlier sandbox on the same storage. `baseUrl` is the start of the links in answers. */
  resume(baseUrl: string): void;
  close(): Promise<void>;
}

export interface RunningSandbox {
  /** Without a trailing slash. */
  url: string;
  close(): Promise<void>;
}

const LARGEST_BODY_BYTES = 1_048_576;
const BOOT_ENDPOINT_ID = 'configured';

/**
 * Starts an emulated payment service on its state folder and continues where the last run on it stopped. Rejects if the
 * port is taken (`EADDRINUSE`) or another process has the folder open.
 */
export async function startSandbox(options: SandboxOptions): Promise<RunningSandbox> {
  const { stateDir, port = 0, host = '127.0.0.1', publicUrl, ...rest } = options;
  const sandbox = createSandbox({ ...rest, storage: new SqliteStorage(join(stateDir, 'sandbox')) });
  try {
    const url = await sandbox.app.listen({ port, host });
    sandbox.resume(publicUrl ?? url);
    return { url, close: () => sandbox.close() };
  } catch (error) {
    await sandbox.close();
    throw error;
  }
}

/**
 * Creates an emulated payment service that does not listen, for tests that run it in their own process. Throws if
 * `webhookUrl` can't be registered.
 */
export function createSandbox(options: EmbeddedSandboxOptions = {}): EmbeddedSandbox {
  const log = options.log ?? pino({ level: 'silent' });
  const closing = new AbortController();
  // Each request that a fault delays listens for the end.
  setMaxListeners(0, closing.signal);
  const store = new Store(options.storage ?? new MemoryStorage());
  const sandbox = assemble(store, log, closing.signal, options);
  const boot = (): void => bootState(sandbox, options);
  try {
    boot();
  } catch (error) {
    store.close();
    throw error;
  }
  const app = createApp(log);
  registerControlApi(app, sandbox, () => {
    sandbox.schedule.cancelAll();
    store.clear();
    boot();
  });
  registerOpenApi(app, sandbox);
  registerOperations(app, sandbox, OPERATIONS);
  return {
    app,
    resume(baseUrl) {
      sandbox.baseUrl = baseUrl.replace(/\/$/, '');
      resumeSettlements(sandbox);
      resumeHolds(sandbox);
      sandbox.deliveries.resume();
    },
    async close() {
      closing.abort();
      sandbox.schedule.cancelAll();
      await app.close();
      await sandbox.deliveries.close();
      store.close();
    },
  };
}

function assemble(store: Store, log: Logger, closing: AbortSignal, options: EmbeddedSandboxOptions): Sandbox {
  const clock = new SandboxClock();
  const schedule = new Schedule(clock, (error) => log.error({ err: error }, 'scheduled work failed'));
  const settings = { ...DEFAULT_SETTINGS };
  const { dispatcher, random } = options;
  return {
    store,
    clock,
    schedule,
    settings,
    log,
    closing,
    faults: new Faults(store, random),
    deliveries: new Deliveries({ store, clock, schedule, settings, log, closing, dispatcher }),
    fingerprintSalt: '',
    cvvKey: Buffer.alloc(0),
    baseUrl: '',
  };
}

/** Sets the state of every start and reset: clock, settings, secrets, the default unit, the configured endpoint. */
function bootState(sandbox: Sandbox, options: EmbeddedSandboxOptions): void {
  const { store, clock } = sandbox;
  clock.offsetMs = Number(store.setting('clock_offset_ms') ?? 0);
  const kept = (store.setting('settings') ?? {}) as Partial<Settings>;
  Object.assign(sandbox.settings, DEFAULT_SETTINGS, kept, options.settings);
  sandbox.fingerprintSalt = secret(store, 'fingerprint_salt');
  sandbox.cvvKey = Buffer.from(secret(store, 'cvv_key'), 'hex');
  completeProfiles(store);
  if (store.units.get(DEFAULT_UNIT.appId) === undefined) {
    store.transaction(() => store.units.put(businessUnit(DEFAULT_UNIT, undefined, clock.now())));
  }
  if (options.webhookUrl === undefined) return;
  const put = putEndpoint(sandbox, {
    id: BOOT_ENDPOINT_ID,
    url: options.webhookUrl,
    version: '1.3.0',
    app_id: DEFAULT_UNIT.appId,
    env: 'test',
    events: ['*'],
    filters: [],
  });
  if ('errors' in put) throw new Error(`HOLDFAST_SANDBOX_WEBHOOK_URL can't be registered: ${put.errors.join('; ')}`);
}

/** Gives units stored by an older sandbox the defaults of options that it did not have. */
function completeProfiles(store: Store): void {
  store.transaction(() => {
    for (const unit of [...store.units.values()]) {
      store.units.put({ ...unit, profile: { ...DEFAULT_PROFILE, ...unit.profile } });
    }
  });
}

function secret(store: Store, name: string): string {
  const known = store.setting(name);
  if (typeof known === 'string') return known;
  const value = randomBytes(32).toString('hex');
  store.transaction(() => store.settings.put({ name, value }));
  return value;
}

function createApp(log: Logger): FastifyInstance {
  const app = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: LARGEST_BODY_BYTES,
    genReqId: () => randomUUID(),
    forceCloseConnections: true,
    // A path that can't be decoded reaches no route, so it is refused here.
    frameworkErrors: (error, request, reply) => {
      const refusal = (reply as unknown as FastifyReply).code(400).header('x-svc-request-id', request.id);
      void refusal.send(invalidRequest(error.message).body);
    },
    routerOptions: { maxParamLength: 1_000 },
  }) as unknown as FastifyInstance;
  app.addHook('onRequest', async (request, reply) => {
    void reply.header('x-svc-request-id', request.id);
  });
  // Bodies stay raw, so that faults in them get the service's own error texts.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    const status = error.statusCode ?? 500;
    const known = error instanceof ApiError ? error : status < 500 ? invalidRequest(error.message) : ownFault();
    if (known.status >= 500) request.log.error({ err: error }, 'request failed');
    return reply.code(known.status).send(known.body);
  });
  return app;
}
