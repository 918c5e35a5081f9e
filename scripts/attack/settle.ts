import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { HoldfastError, type HoldfastClient } from '../../src/client/index.js';
import { paymentWorkflowId } from '../../src/contract/names.js';
import type { DeliveryView, SandboxControl } from '../../src/sandbox/control.js';
import { askUntilFinal, isOpen } from './asking.js';
import { flowReport, openFlows } from './flow-health.js';
import { differencesFromLedger } from './ledger-check.js';
import { FAULTS } from './plan.js';
import { namesNoFlow, type ProfileUnit } from './profile-units.js';
import type { StormedCharge } from './storm.js';
import type { Evidence } from './summary.js';
import { isAboutThePayment, withoutNameless, type WebhookCounts } from './webhook-counts.js';

/** From the end of the faults until everything must be final. Pauses of the flows grow to a minute. */
const SETTLE_LIMIT_MS = 180_000;
const CALLERS = 64;
const LOOK_EVERY_MS = 200;

export interface SettleParts {
  holdfast: HoldfastClient;
  temporal: Client;
  sandbox: SandboxControl;
  webhookCounts: WebhookCounts;
  units: readonly ProfileUnit[];
  /** Told whenever it changes what is still waited for. */
  onWait: (what: string) => void;
}

type Finding = Pick<
  Evidence,
  'asked' | 'ledger' | 'differences' | 'faults' | 'events' | 'flows' | 'settledForMs' | 'slowest'
>;

/** Lifts the faults, waits until everything is final (3 minutes at most), and compares what was told with the ledger. */
export async function settle(parts: SettleParts, stormed: readonly StormedCharge[]): Promise<Finding> {
  const { temporal, sandbox, webhookCounts, units, onWait } = parts;
  const begun = Date.now();
  const limit = begun + SETTLE_LIMIT_MS;
  const planted = await sandbox.faults();
  await sandbox.clearFaults();
  const faults = FAULTS.map(({ label }, index) => ({ label, count: planted[index]?.fired ?? 0 }));

  const asked = await askUntilAllFinal(parts, stormed, limit);
  const open = await untilNone(
    () => openFlows(temporal),
    limit,
    (count) => onWait(`${count} flows`),
  );
  const unacknowledged = await untilNone(
    () => sandbox.deliveries({ status: 'pending' }),
    limit,
    (count) => onWait(`${count} webhook events`),
  );
  const settledForMs = Date.now() - begun;

  onWait('the comparison');
  const ledger = await sandbox.ledger();
  const { runs, problems, lostTasks } = await flowReport(temporal);
  const givenUp = await sandbox.deliveries({ status: 'given_up' });
  const deliveries = await sandbox.deliveries();
  return {
    asked,
    ledger,
    differences: differencesFromLedger(asked, ledger),
    faults,
    events: {
      created: deliveries.length,
      unacknowledged: [...unacknowledged, ...givenUp].map(nameOf),
      counts: withoutNameless(await webhookCounts.all(), namelessAttempts(deliveries, units)),
    },
    flows: { open, problems, lostTasks },
    settledForMs,
    ...slowestOf(asked, runs),
  };
}

/** How often events were sent that name no flow, as the service of a unit that echoes no reconciliation id makes them. */
function namelessAttempts(deliveries: readonly DeliveryView[], units: readonly ProfileUnit[]): number {
  const silent = new Set(units.filter(namesNoFlow).map(({ appId }) => appId));
  return deliveries
    .filter(({ app_id: appId, event_type: type }) => silent.has(appId) && !isAboutThePayment(type))
    .reduce((sum, { attempts }) => sum + attempts, 0);
}

async function askUntilAllFinal(
  { holdfast, units, onWait }: SettleParts,
  stormed: readonly StormedCharge[],
  limit: number,
): Promise<StormedCharge[]> {
  const asked = [...stormed];
  const open = [...asked.entries()].filter(([, charge]) => isOpen(charge));
  let left = open.length;
  const queue = open.values();
  const silent = new Set<string | undefined>(units.filter(namesNoFlow).map(({ name }) => name));
  const caller = async (): Promise<void> => {
    for (const [index, charge] of queue) {
      onWait(`${left} charges`);
      // Polls that failed in the storm have grown to pauses of minutes, and no event shortens those.
      if (silent.has(charge.input.businessUnit)) await lookNow(holdfast, charge.input.reference);
      const answered = await askUntilFinal(holdfast, charge.input, limit - Date.now());
      asked[index] = { begunAt: charge.begunAt, ...answered };
      left -= 1;
    }
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
  return asked;
}

/** A flow that has ended, or was never started, says so when it is asked. */
async function lookNow(holdfast: HoldfastClient, reference: string): Promise<void> {
  try {
    await holdfast.retryNow(reference);
  } catch (error) {
    if (!(error instanceof HoldfastError)) throw error;
  }
}

/** Asks until nothing is left, or returns what is left at the limit. */
async function untilNone<Item>(
  ask: () => Promise<readonly Item[]>,
  limit: number,
  onLeft: (count: number) => void,
): Promise<readonly Item[]> {
  for (;;) {
    const left = await ask();
    if (left.length === 0 || Date.now() > limit) return left;
    onLeft(left.length);
    await sleep(LOOK_EVERY_MS);
  }
}

/** From the first question until the flow knew, by the clock of this machine, which the engine's is too. */
function slowestOf(
  asked: readonly StormedCharge[],
  runs: readonly { workflowId: string; closeTime?: Date }[],
): Pick<Evidence, 'slowest'> {
  const closedAt = new Map(runs.map(({ workflowId, closeTime }) => [workflowId, closeTime?.getTime()]));
  let slowest: Evidence['slowest'];
  for (const { input, begunAt } of asked) {
    const closed = closedAt.get(paymentWorkflowId(input.reference));
    const ms = closed === undefined ? 0 : closed - begunAt;
    if (slowest === undefined || ms > slowest.ms) slowest = { ms, reference: input.reference };
  }
  return slowest === undefined ? {} : { slowest };
}

function nameOf({ event_type: type, reconciliation_id: reference, status }: DeliveryView): string {
  return `${reference ?? 'no reference'}: event ${type} is ${status}`;
}
