import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { SandboxControl, DeliveryView } from '../../sandbox/control.js';
import { flowReport, openFlows, wakeParked, whyOpen, withoutKnownToPeople } from '../audit/flow-health.js';
import { namesNoOwner, type ProfileUnit } from '../stack/profile-units.js';
import type { ChaosArguments } from './arguments.js';
import type { Campaign } from './campaign.js';
import type { Killer } from './kills.js';
import { faultsOf, planKills } from './plan.js';
import type { Flows } from './scenarios/scenarios.js';
import { type Evidence, withoutLooksForeign, type WebhookCounts } from './summary.js';

/** Temporal gives a dead worker's tasks to another worker after 10 s, and then a call may fail a few times. */
const REACH_LIMIT_MS = 30_000;
const LOOK_EVERY_MS = 200;

interface LoadParts {
  campaign: Campaign;
  sandbox: SandboxControl;
  killer: Killer;
  /** Ends the load early. */
  signal: AbortSignal;
}

/** Concurrent callers that start flows while the service fails and processes are killed. */
export class Load {
  readonly #parts: LoadParts;
  readonly #args: ChaosArguments;
  #begun = 0;
  #begunAt = 0;

  constructor(parts: LoadParts, args: ChaosArguments) {
    this.#parts = parts;
    this.#args = args;
  }

  get begun(): number {
    return this.#begun;
  }

  /** Resolves when every caller is done and every process serves again. The faults are still planted then. */
  async run(): Promise<void> {
    const { sandbox, killer, signal } = this.#parts;
    for (const { fault } of faultsOf(this.#args.flows)) await sandbox.addFault(fault);
    this.#begunAt = Date.now();
    const failed = new AbortController();
    const until = AbortSignal.any([signal, failed.signal]);
    const callers = Array.from({ length: this.#args.concurrency }, () => this.#call(until));
    const work = [...callers, killer.run(planKills(this.#args), () => this.#progress(), until)];
    try {
      await Promise.all(work);
    } catch (error) {
      // No process may be restarted while the stack is being stopped.
      failed.abort();
      await Promise.allSettled(work);
      throw error;
    }
    await this.#untilAllReachTheService();
  }

  /**
   * Callers may be done while no worker ran. Their requests must reach the service before the faults end; otherwise
   * hardly any flow would meet a fault on a busy machine.
   */
  async #untilAllReachTheService(): Promise<void> {
    const { sandbox, signal } = this.#parts;
    const limit = Date.now() + REACH_LIMIT_MS;
    while (!signal.aborted && Date.now() < limit) {
      if ((await sandbox.health()).payments >= this.#begun) return;
      await sleep(LOOK_EVERY_MS);
    }
  }

  /** Share of the run that is over, from 0. */
  #progress(): number {
    const { until } = this.#args;
    return 'ms' in until ? (Date.now() - this.#begunAt) / until.ms : this.#begun / until.count;
  }

  async #call(until: AbortSignal): Promise<void> {
    while (this.#progress() < 1 && !until.aborted) {
      this.#begun += 1;
      await this.#parts.campaign.startFlow(this.#begun, until);
      // Yields, so that callers don't block the event loop when every request fails at once.
      await sleep(0);
    }
  }
}

/** ms from the end of the faults until all must be final: the fourth read of a flow follows the third by 5 minutes. */
const SETTLE_LIMIT_MS = 360_000;
const SETTLED_LOOK_EVERY_MS = 2_000;

interface SettleParts {
  campaign: Campaign;
  flows: Flows;
  temporal: Client;
  sandbox: SandboxControl;
  webhookCounts: WebhookCounts;
  units: readonly ProfileUnit[];
  /** Called whenever what the run still waits for changes. */
  onWait: (what: string) => void;
}

type Settled = Pick<Evidence, 'findings' | 'ledger' | 'faults' | 'events' | 'flows' | 'settledForMs'>;

/** Removes the faults, waits until everything is final (minutes at most), and compares the answers with the ledger. */
export async function settle(parts: SettleParts): Promise<Settled> {
  const { campaign, temporal, sandbox, webhookCounts, units, onWait } = parts;
  const begun = Date.now();
  const limit = begun + SETTLE_LIMIT_MS;
  const kinds = faultsOf(parts.flows);
  // The run's own faults come first in the list. A fault planted by a scenario for its own flow stays.
  const planted = (await sandbox.faults()).slice(0, kinds.length);
  for (const { id } of planted) await sandbox.removeFault(id);
  const faults = kinds.map(({ label }, index) => ({ label, count: planted[index]?.fired ?? 0 }));

  await campaign.finish(limit, onWait);
  const open = await untilNone(
    async () => await withoutKnownToPeople(temporal, await openFlows(temporal), campaign.releasedByHand),
    limit,
    async (left) => {
      onWait(`${left.length} flows`);
      await wakeParked(temporal, left);
    },
  );
  const whyStillOpen = await Promise.all(open.map((workflowId) => whyOpen(temporal, workflowId)));
  const unacknowledged = await untilNone(
    () => sandbox.deliveries({ status: 'pending' }),
    limit,
    (left) => onWait(`${left.length} webhook events`),
  );
  const settledForMs = Date.now() - begun;

  onWait('the comparison');
  const ledger = await sandbox.wholeLedger();
  const { problems, lostTasks, firstTasksAgain } = await flowReport(temporal);
  const deliveries = await sandbox.deliveries();
  const givenUp = deliveries.filter(({ status }) => status === 'given_up');
  return {
    findings: campaign.findings(ledger),
    ledger,
    faults,
    events: {
      created: deliveries.length,
      unacknowledged: [...unacknowledged, ...givenUp].map(nameOf),
      counts: withoutLooksForeign(await webhookCounts.all(), silentAttempts(deliveries, units)),
    },
    flows: { open: whyStillOpen, problems, lostTasks, firstTasksAgain },
    settledForMs,
  };
}

/** Number of delivery attempts for units whose service names no flow of a payment. */
function silentAttempts(deliveries: readonly DeliveryView[], units: readonly ProfileUnit[]): number {
  const silent = new Set(units.filter(namesNoOwner).map(({ appId }) => appId));
  return deliveries.filter(({ app_id: appId }) => silent.has(appId)).reduce((sum, { attempts }) => sum + attempts, 0);
}

/** Polls until nothing is left, or returns what is left at the limit. */
async function untilNone<Item>(
  ask: () => Promise<readonly Item[]>,
  limit: number,
  onLeft: (left: readonly Item[]) => void | Promise<void>,
): Promise<readonly Item[]> {
  for (;;) {
    const left = await ask();
    if (left.length === 0 || Date.now() > limit) return left;
    await onLeft(left);
    await sleep(SETTLED_LOOK_EVERY_MS);
  }
}

function nameOf({ event_type: type, reconciliation_id: reference, status }: DeliveryView): string {
  return `${reference ?? 'no reference'}: event ${type} is ${status}`;
}
