import type { VirtualTime, VirtualTimeOptions } from '../support/virtual-time.js';
import { RequestLog } from '../support/request-log.js';
import { PLAIN_UNIT } from '../../tools/stack/profile-units.js';
import { DEFAULT_UNIT } from '../../sandbox/business-units.js';
import { BILLING_TASK_QUEUE, PAYMENTS_TASK_QUEUE } from '../../src/contract/names.js';
import { TEST_ENCRYPTION_KEYS } from '../support/data-converter.js';
import { tellingOf } from '../support/telling.js';
import { startCharge, tokenizedInput } from '../support/virtual-charges.js';
import { createSimulation, type Simulation, type SimulationOptions } from './simulation.js';
import type { SimulatedWorker } from './worker/worker.js';

/** A year of waiting would be a million and a half of a server's long polls. */
const LONG_POLL_MS = 20 * 86_400_000;
/** With all that only a simulation can do: its network, its engine, workers of other kinds. */
export interface SimulatedTime extends VirtualTime {
  readonly simulation: Simulation;
}

let count = 0;

/** `startVirtualTime` on the simulation: the same engine, service and clock in one process. */
export async function startSimulatedTime(
  { billing = false, sticky = true, perCall }: VirtualTimeOptions = {},
  more: Partial<SimulationOptions> = {},
): Promise<SimulatedTime> {
  const startAt = Date.now();
  const unit = { ...DEFAULT_UNIT, riskUnit: 'default', ...(perCall && { outgoing: { perCall } }) };
  const requests = new RequestLog(() => Date.now());
  const held = new Map<string, () => Promise<void>>();
  const simulation = await createSimulation({
    seed: `time ${(count += 1)}`,
    startAt,
    units: [PLAIN_UNIT],
    webhooks: false,
    keys: TEST_ENCRYPTION_KEYS,
    longPollMs: LONG_POLL_MS,
    telling: tellingOf(),
    noting: (dispatcher) => requests.noting(dispatcher),
    worker: {
      env: { HOLDFAST_BUSINESS_UNITS: JSON.stringify({ default: unit }) },
      queues: billing ? [PAYMENTS_TASK_QUEUE, BILLING_TASK_QUEUE] : [PAYMENTS_TASK_QUEUE],
      beforeActivity: async (type) => await held.get(type)?.(),
      ...(!sticky && { cache: 0 }),
    },
    ...more,
  });
  const { world, client, holdfast } = simulation;
  let worker: SimulatedWorker | undefined = simulation.startWorker();
  const now = async (): Promise<number> => world.time.now();
  return {
    simulation,
    sandbox: world.control,
    requests,
    holdfast,
    client,
    provider: world.providerFor('default'),
    now,
    passUntil: (at) => world.time.advanceTo(Math.max(at, world.time.now())),
    passUnserved: (at) => world.time.advanceTo(Math.max(at, world.time.now())),
    input: (options) => tokenizedInput(world.control, options),
    start: (input, how) => startCharge({ client, holdfast, now }, input, how),
    async startWorker(keys) {
      worker = simulation.startWorker(keys === undefined ? {} : { keys });
    },
    async stopWorker() {
      await worker?.stop();
      worker = undefined;
    },
    hold(activity) {
      let release = (): void => {};
      const released = new Promise<void>((resolve) => (release = resolve));
      const reached = new Promise<void>((resolve) => {
        held.set(activity, async () => {
          resolve();
          await released;
        });
      });
      return {
        reached,
        release() {
          held.delete(activity);
          release();
        },
      };
    },
    fail(activity) {
      held.set(activity, async () => {
        throw new Error('planted by the test');
      });
      return () => held.delete(activity);
    },
    async listen(answer) {
      world.network.attach('http://merchant.test', async ({ headers, body }) => ({
        status: answer({ headers, body: body?.toString() ?? '' }),
        headers: {},
        body: Buffer.alloc(0),
      }));
      return 'http://merchant.test/hook';
    },
    close: () => simulation.close(),
  };
}
