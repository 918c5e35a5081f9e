import { Client, Connection } from '@temporalio/client';
import { SandboxControl } from '../../../dist/sandbox/control.js';
import { RECONNECT_SOON } from '../../../dist/src/client/deadlines.js';
import { HoldfastClient } from '../../../dist/src/client/index.js';
import { createDataConverter } from '../../../dist/src/security/data-converter.js';
import { parseKeyRing } from '../../../dist/src/security/key-ring.js';
import { Campaign, unitsForScenarios } from '../../../dist/tools/chaos/campaign.js';
import { settle } from '../../../dist/tools/chaos/load.js';
import { faultsOf } from '../../../dist/tools/chaos/plan.js';
import { SCENARIOS } from '../../../dist/tools/chaos/scenarios/scenarios.js';
import { WebhookCounts } from '../../../dist/tools/chaos/summary.js';
import { addUnits, businessUnitsSetting, PLAIN_UNIT } from '../../../dist/tools/stack/profile-units.js';
import { readCompose } from '../compose.mjs';
import { onLoopback } from '../loopback.mjs';
import { Gateway } from './gateway.mjs';

const GIB = 2 ** 30;
const UP_WITHIN_MS = 180_000;
/** Holds are so long that an outage rarely outlasts one, and so short that the run sees them end. */
const UNITS = unitsForScenarios([PLAIN_UNIT], { count: 300 });

/** The demo's stack with two workers, its database on a disk that can be full, and callers of every kind of flow. */
export class ChaosContext {
  #gateway;
  #control;
  #begun = 0;
  /** From a multiple on, so many numbers in a row are a flow of each kind. */
  #next = SCENARIOS.length;
  #stop = new AbortController();

  /** @param options.open opens a rig */
  static async open({ open, seed }) {
    const model = await readCompose({
      envFile: 'deploy/demo.env',
      profiles: ['demo'],
      env: {
        HOLDFAST_BUSINESS_UNITS: businessUnitsSetting(UNITS),
        // As `npm run chaos` has them: many pending charges end while the faults last, and no bill is held up.
        HOLDFAST_SANDBOX_PENDING_MS: '1000',
        HOLDFAST_BILLING_CALLS_PER_SECOND: '1000',
        HOLDFAST_LOG_LEVEL: 'warn',
      },
    });
    const rig = await open(model, { diskBytes: { postgres: 2 * GIB } });
    const gateway = new Gateway();
    const url = await gateway.open(rig.network.gateway);
    for (const service of ['worker', 'webhook']) model.services[service].environment.HOLDFAST_API_BASE_URL = url;
    return new ChaosContext({ rig, gateway, seed, keys: model.services.worker.environment.HOLDFAST_ENCRYPTION_KEYS });
  }

  constructor({ rig, gateway, seed, keys }) {
    Object.assign(this, { rig, seed, keys });
    this.#gateway = gateway;
  }

  get gateway() {
    return this.#gateway;
  }

  /** Number of flows that have been asked for. */
  get begun() {
    return this.#begun;
  }

  /** Number of flows without a final answer. */
  get open() {
    return this.#begun - this.campaign.final;
  }

  async up() {
    const { rig } = this;
    await rig.build();
    await rig.up({ services: ['worker', 'webhook', 'sandbox'], scale: { worker: 2 }, withinMs: UP_WITHIN_MS });
    await rig.healthy(UP_WITHIN_MS);
    const at = (service) => rig.container(service).end.address;
    this.#gateway.passTo(at('sandbox'), 4010);
    const sandboxUrl = `http://${at('sandbox')}:4010`;
    this.#control = await onLoopback(rig.container('sandbox'), 4010);
    this.sandbox = new SandboxControl(`http://127.0.0.1:${this.#control.port}`);
    this.webhookCounts = new WebhookCounts(`http://${at('webhook')}:9465/metrics`);
    const connection = await Connection.connect({ address: `${at('temporal')}:7233`, channelArgs: RECONNECT_SOON });
    const dataConverter = createDataConverter(parseKeyRing(this.keys));
    this.temporal = new Client({ connection, namespace: 'default', dataConverter });
    this.holdfast = new HoldfastClient(this.temporal);
    await addUnits(this.sandbox, UNITS, 'http://webhook:4020/webhooks');
    const { sandbox, temporal, holdfast, seed } = this;
    this.campaign = new Campaign({
      ...{ holdfast, temporal, sandbox, sandboxUrl, seed, scenarios: SCENARIOS, units: [PLAIN_UNIT] },
      longestPauseMs: 4_000,
    });
  }

  /** All containers of these services. */
  containersOf(services) {
    return this.rig.containers.filter(({ name }) => services.includes(name.replace(/-\d+$/, '')));
  }

  /** The number of the next flow, which decides its kind and its reference. */
  nextNumber() {
    this.#next += 1;
    return this.#next - 1;
  }

  /** The reference that the campaign gives to the flow of this number. */
  referenceOf(number) {
    return `chaos-${PLAIN_UNIT.name}-${String(number).padStart(6, '0')}`;
  }

  /** Asks for a flow. Resolves when its answer is final, or after some seconds. */
  async startFlow(number) {
    this.#begun += 1;
    await this.campaign.startFlow(number, this.#stop.signal);
  }

  /** Replies lost, 503s, garbage, refused connections; events lost, repeated and late. */
  async plantFaults() {
    await this.sandbox.clearFaults();
    for (const { fault } of faultsOf('mixed')) await this.sandbox.addFault(fault);
  }

  /** Removes the faults, waits until all is final, and compares what callers were told with the sandbox's ledger. */
  async settle(onWait) {
    const { campaign, temporal, sandbox, webhookCounts } = this;
    return await settle({ campaign, flows: 'mixed', temporal, sandbox, webhookCounts, units: UNITS, onWait });
  }

  async close() {
    this.#stop.abort();
    this.campaign?.abandon();
    await this.holdfast?.close();
    this.#control?.close();
    this.#gateway.close();
  }
}
