import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import type { DeliveryView, SandboxControl } from '../../sandbox/control.js';
import type { Campaign } from './campaign.js';
import type { Flows } from './scenarios/scenarios.js';
import { flowReport, openFlows, wakeParked, whyOpen } from '../audit/flow-health.js';
import { faultsOf } from './plan.js';
import { namesNoOwner, type ProfileUnit } from '../stack/profile-units.js';
import type { Evidence } from './summary.js';
import { withoutLooksForeign, type WebhookCounts } from './webhook-counts.js';

/** ms from the end of the faults until all must be final: the fourth read of a flow follows the third by 5 minutes. */
const SETTLE_LIMIT_MS = 360_000;
const LOOK_EVERY_MS = 2_000;

export interface SettleParts {
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
    () => openFlows(temporal),
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
  const ledger = await sandbox.ledger();
  const { problems, lostTasks } = await flowReport(temporal);
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
    flows: { open: whyStillOpen, problems, lostTasks },
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
    await sleep(LOOK_EVERY_MS);
  }
}

function nameOf({ event_type: type, reconciliation_id: reference, status }: DeliveryView): string {
  return `${reference ?? 'no reference'}: event ${type} is ${status}`;
}
