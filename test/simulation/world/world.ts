import type { Client } from '@temporalio/client';
import { type Dispatcher, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import type { UnitTerms } from '../../../activities/index.js';
import { addUnits, businessUnitsSetting, type ProfileUnit, unitsOf } from '../../../tools/stack/profile-units.js';
import { type Config, loadConfig } from '../../../src/config/index.js';
import type { ProviderClient } from '../../../src/provider/index.js';
import { SandboxControl } from '../../../sandbox/control.js';
import type { Settings } from '../../../sandbox/settings.js';
import { createProviders, unitTerms } from '../../../workers/providers.js';
import type { Serve } from './app-call.js';
import { Network } from './network.js';
import { NetworkDispatcher } from './network-dispatcher.js';
import { installSeeded, Seeded } from './seeded.js';
import { SimulatedSandbox } from './simulated-sandbox.js';
import type { NetworkStrategy } from './strategies.js';
import { VirtualTime } from './virtual-time.js';
import { createWebhookSide, type WebhookSide } from './webhook-side.js';

/** Origin of the payment service. */
export const SANDBOX_URL = 'http://sandbox.test';
export const WEBHOOK_URL = 'http://webhook.test/webhooks';

/** Midnight of an ordinary Tuesday. */
const START_AT = Date.UTC(2026, 2, 10);

export interface WorldOptions {
  seed: string | number;
  /** Epoch ms at which its clock starts. */
  startAt?: number;
  /** Business units that worker, webhook handler and sandbox know. Default: the plain one and all hostile ones. */
  units?: readonly ProfileUnit[];
  /** Whether the sandbox sends events from the start. Default true; they are refused until `connectWebhooks`. */
  webhooks?: boolean;
  /** Of the sandbox. */
  settings?: Partial<Settings>;
  /** How long an event waits for the end of its flow, in ms. Default 0. */
  waitForEndMs?: number;
  /** Default `calm`. */
  strategy?: (random: Seeded) => NetworkStrategy;
  /** Who answers at addresses outside of this world, a merchant's say. Default: nobody. */
  elsewhere?: Serve;
  /** Timers that may fire while one thing is waited for. */
  mostFirings?: number;
}

/**
 * The outside of the flows in one process: payment service, webhook handler and network, on one virtual clock and with
 * all randomness from one seed. The process's own time, randomness and `fetch` are the world's until it is closed, so
 * there is one at a time.
 */
export interface World {
  readonly seed: string | number;
  readonly time: VirtualTime;
  /** For decisions of tests and campaigns; the network and the faults of the sandbox have numbers of their own. */
  readonly random: Seeded;
  readonly network: Network;
  readonly sandbox: SimulatedSandbox;
  /** Asks the sandbox past the network; no time passes. */
  readonly control: SandboxControl;
  /** As the production processes read it from their environment. */
  readonly config: Config;
  /** The same with other variables, of a process that has them. */
  configured(env: Readonly<Record<string, string>>): Config;
  /** In the form of HOLDFAST_ENCRYPTION_KEYS, the same for the same seed. */
  readonly encryptionKeys: string;
  readonly unitTerms: ReadonlyMap<string, UnitTerms>;
  /** The network as a process sees it. @param from its name in what has passed, such as `worker` */
  connect(from: string): NetworkDispatcher;
  /** One client for each business unit. */
  providers(dispatcher: Dispatcher): Map<string, ProviderClient>;
  /** The service as another caller with the same credentials sees it: `external` in what has passed. */
  providerFor(unit?: string): ProviderClient;
  /** Starts the webhook handler, or replaces it. @param client on the engine of this world */
  connectWebhooks(client: Client): Promise<WebhookSide>;
  /** Gives the process back its own time, randomness and `fetch`. */
  close(): Promise<void>;
}

/** Gives the process back what the open world has taken of it. */
let leaveOpenWorld = (): void => {};

export async function createWorld(options: WorldOptions): Promise<World> {
  const { seed, startAt = START_AT, units = unitsOf('all'), settings = {}, waitForEndMs = 0, mostFirings } = options;
  // A test whose time was up has left its world behind: the next one must not fail for that.
  leaveOpenWorld();
  const random = new Seeded(seed);
  const restoreRandom = installSeeded(random.fork('process'));
  const time = new VirtualTime({ startAt, ...(mostFirings !== undefined && { mostFirings }) });
  const network = new Network(options.strategy?.(random.fork('network')), options.elsewhere);
  const connect = (from: string): NetworkDispatcher => new NetworkDispatcher(network, from);
  const globalDispatcher = getGlobalDispatcher();
  setGlobalDispatcher(connect('external'));
  const giveBack = (): void => {
    if (leaveOpenWorld !== giveBack) return;
    leaveOpenWorld = () => {};
    time.uninstall();
    restoreRandom();
    setGlobalDispatcher(globalDispatcher);
  };
  leaveOpenWorld = giveBack;

  const faults = random.fork('faults');
  const webhookUrl = options.webhooks === false ? undefined : WEBHOOK_URL;
  const encryptionKeys = `simulation:${random.fork('keys').bytes(32).toString('base64')}`;
  try {
    const configured = (env: Readonly<Record<string, string>>): Config =>
      loadConfig({
        HOLDFAST_ENVIRONMENT: 'test',
        HOLDFAST_API_BASE_URL: SANDBOX_URL,
        HOLDFAST_ENCRYPTION_KEYS: encryptionKeys,
        HOLDFAST_BUSINESS_UNITS: businessUnitsSetting(units),
        ...env,
      });
    const config = configured({});
    const sandbox = new SimulatedSandbox({
      network,
      url: SANDBOX_URL,
      connect: () => connect('service'),
      random: () => faults.next(),
      webhookUrl,
      settings,
    });
    await sandbox.ready();
    const control = new SandboxControl(SANDBOX_URL, sandbox.control);
    await addUnits(control, units, webhookUrl);
    const providers = (dispatcher: Dispatcher) => createProviders(config, dispatcher);
    const external = providers(connect('external'));
    let webhooks: WebhookSide | undefined;
    return {
      seed,
      time,
      random: random.fork('test'),
      network,
      sandbox,
      control,
      config,
      configured,
      encryptionKeys,
      unitTerms: unitTerms(config),
      connect,
      providers,
      providerFor(unit = 'default') {
        const provider = external.get(unit);
        if (provider === undefined) throw new Error(`${unit} is none of ${[...external.keys()].join(', ')}`);
        return provider;
      },
      async connectWebhooks(client) {
        await webhooks?.close();
        const shared = { network, config, providers: providers(connect('webhook')), client };
        webhooks = await createWebhookSide({ ...shared, url: WEBHOOK_URL, waitForEndMs });
        return webhooks;
      },
      async close() {
        time.pause();
        try {
          await webhooks?.close();
          await sandbox.close();
        } finally {
          giveBack();
        }
      },
    };
  } catch (error) {
    giveBack();
    throw error;
  }
}
