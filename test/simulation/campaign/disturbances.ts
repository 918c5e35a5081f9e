import { setTimeout as sleep } from 'node:timers/promises';
import type { Run } from '../engine/run.js';
import { EventType, WorkflowExecutionStatus } from '../engine/shapes.js';
import type { Simulation } from '../simulation.js';
import type { Seeded } from '../world/seeded.js';
import type { WebhookSide } from '../world/webhook-side.js';
import { HoldfastError } from '../../../src/client/index.js';
import { WORKFLOW_TYPES } from '../../../src/contract/names.js';
import { postEvent } from '../../support/signed-events.js';
import { WEBHOOK_URL } from '../world/world.js';
import type { Counts } from './counts.js';
import type { Workers } from './workers.js';
import type { SimulatedOperator } from './operator.js';
import type { ServiceFaults } from './service-faults.js';
import type { FaultSchedule } from './fault-schedule.js';

const MINUTE_MS = 60_000;
const WITH_EXPLANATION = new Set<string>(
  Object.values(WORKFLOW_TYPES).filter((type) => !['listCards', 'removeCard'].includes(type)),
);

export interface DisturbanceParts {
  simulation: Simulation;
  webhooks: WebhookSide;
  workers: Workers;
  faults: ServiceFaults;
  operator: SimulatedOperator;
  schedule: FaultSchedule;
  random: Seeded;
  counts: Counts;
  /** Told of a flow that somebody has reset. */
  onReset: (workflowId: string) => void;
}

type Disturbance = (parts: DisturbanceParts, random: Seeded) => Promise<void> | void;

/** What happens to the processes and to the flows from outside, each with how often it is chosen. */
const DISTURBANCES: readonly (readonly [name: string, share: number, act: Disturbance])[] = [
  ['worker dies', 4, ({ workers }) => workers.killOne()],
  ['worker replaced', 2, ({ workers }) => workers.replaceOne()],
  [
    'engine dies',
    3,
    ({ simulation: { engine } }, random) => {
      if (!engine.isUp) return;
      engine.kill();
      setTimeout(() => engine.up(), random.int(50, 20_000));
    },
  ],
  ['sandbox restarts', 2, ({ simulation }) => simulation.world.sandbox.restart()],
  [
    'service away',
    2,
    ({ simulation: { world } }, random) => {
      world.sandbox.serve(random.pick(['refusing', 502, 503, 504] as const));
      setTimeout(() => world.sandbox.serve('up'), random.int(1_000, 5 * MINUTE_MS));
    },
  ],
  [
    'webhook handler away',
    3,
    ({ webhooks }, random) => {
      webhooks.deliver(random.pick(['refusing', 500, 503] as const));
      setTimeout(() => webhooks.deliver('up'), random.int(1_000, 30 * MINUTE_MS));
    },
  ],
  ['keys refused', 2, ({ faults }, random) => faults.refuseKeys(random.int(1_000, 2 * MINUTE_MS))],
  [
    'old events sent again',
    3,
    async ({ simulation: { world } }, random) => {
      const all = await world.control.deliveries({});
      // What is lost stays lost: sent again it would heal what the campaign counts as lost.
      const sent = all.filter(({ status }) => status !== 'lost');
      for (let times = 0; times < 2 && sent.length > 0; times += 1) await world.control.resend(random.pick(sent).id);
    },
  ],
  ['flow told to look now', 2, (parts, random) => meddle(parts, random, 'retryNow')],
  ['flow asked to explain itself', 3, (parts, random) => meddle(parts, random, 'explain')],
  ['flow settled by hand', 2, ({ simulation, operator }, random) => settle(simulation, operator, random)],
  ['forged event', 3, ({ simulation, counts }, random) => forge(simulation, random, counts)],
  ['flow reset', 3, (parts, random) => reset(parts, random)],
];
export const DISTURBANCE_NAMES: readonly string[] = DISTURBANCES.map(([name]) => name);
const SHARES = DISTURBANCES.reduce((sum, [, share]) => sum + share, 0);

/** Goes on until the schedule is over. */
export async function disturb(parts: DisturbanceParts, everyMs: number): Promise<void> {
  const random = parts.random.fork('disturbances');
  for (let pause = everyMs; ; pause = Math.min(pause * 1.1, 12 * 60 * MINUTE_MS)) {
    await sleep(Math.round(pause * 2 * random.next()));
    if (parts.schedule.isOver) return;
    let draw = random.next() * SHARES;
    const [name, , act] = DISTURBANCES.find(([, share]) => (draw -= share) < 0) ?? DISTURBANCES[0]!;
    parts.counts.add('disturbance', name);
    await act(parts, random);
  }
}

/** Asks or tells some open flow, whatever it is at. */
async function meddle(
  { simulation, counts }: DisturbanceParts,
  random: Seeded,
  how: 'retryNow' | 'explain',
): Promise<void> {
  const open = [...simulation.engine.all()].filter(({ isOpen, start }) => isOpen && WITH_EXPLANATION.has(start.type));
  if (open.length === 0) return;
  const { workflowId } = random.pick(open).start;
  const { holdfast } = simulation;
  try {
    if (how === 'retryNow') await holdfast.retryNow({ workflowId });
    else {
      counts.add('message', 'query explain');
      counts.add('message', 'query status');
      const [said, status] = await Promise.all([holdfast.explain({ workflowId }), holdfast.status({ workflowId })]);
      if (said === '') throw new Error(`${workflowId} does not say what it waits for`);
      if (status.waitingFor !== 'nothing') counts.add('waited for', status.waitingFor);
    }
  } catch (error) {
    // It has ended meanwhile, or the engine is away.
    if (!(error instanceof HoldfastError)) throw error;
    counts.add('meddling refused', `${how}: ${error.type}`);
  }
}

/** Somebody decides early, by what the ledger show now: a flow whose request may still be on its way refuses that. */
async function settle({ engine }: Simulation, operator: SimulatedOperator, random: Seeded): Promise<void> {
  const open = [...engine.all()].filter(({ isOpen, start }) => isOpen && start.type !== WORKFLOW_TYPES.parkedEvent);
  if (open.length > 0) await operator.settle(random.pick(open).start.workflowId);
}

/** A real event with another sum, currency or payment: with a signature that fits nothing, or with that of its unit. */
async function forge({ world }: Simulation, random: Seeded, counts: Counts): Promise<void> {
  const [sent] = (await world.control.deliveries({})).slice(-1 - random.int(0, 20));
  if (sent === undefined) return;
  const { body, event_type: eventType, app_id: appId } = await world.control.delivery(sent.id);
  const { data, ...envelope } = body as { payment_id: string; data: Record<string, unknown> };
  const how = random.pick(['sum', 'currency', 'payment'] as const);
  const forged = {
    ...envelope,
    ...(how === 'payment' && { payment_id: random.uuid() }),
    data: { ...data, ...(how === 'sum' && { amount: 7 }), ...(how === 'currency' && { currency: 'XAF' }) },
  };
  const unit = [...world.config.businessUnits.values()].find((one) => one.appId === appId);
  const key = random.pick(['no key of ours', unit?.privateKey ?? '']);
  const { status } = await postEvent(WEBHOOK_URL, eventType, forged, key).catch(() => ({ status: 0 }));
  counts.add('forged event', `${how}, ${key === 'no key of ours' ? 'no signature of ours' : 'signed'}: ${status}`);
  if (key === 'no key of ours' && status >= 200 && status < 300) throw new Error('a forged event was taken');
}

/**
 * How long after its start a flow is reset at most. Later its time limits are over and what it made may have been taken
 * away, as a card that it put on file: it then ends otherwise than it did, and refunds what its consent cost.
 */
const RESET_WITHIN_MS = 24 * 3_600_000;

/** As an operator does with `temporal workflow reset`, to any task of an open or ended run. */
async function reset({ simulation, onReset, counts }: DisturbanceParts, random: Seeded): Promise<void> {
  const { engine } = simulation;
  const all = [...engine.all()];
  const runs = all.filter(
    (run) =>
      run === engine.find(run.start.workflowId) &&
      tasksOf(run).length > 0 &&
      Date.now() - run.startedAt < RESET_WITHIN_MS &&
      // The card that it put on file may have been taken off since.
      (run.isOpen || run.start.type !== WORKFLOW_TYPES.storeCard) &&
      // Begun again, it would do what its caller was told it had not done.
      run.status !== WorkflowExecutionStatus.WORKFLOW_EXECUTION_STATUS_CANCELED &&
      !isGoneOnWith(run, all),
  );
  if (runs.length === 0 || !engine.isUp) return;
  const run = random.pick(runs);
  const eventId = random.pick(tasksOf(run));
  counts.add('reset', `${run.isOpen ? 'open' : 'ended'} ${run.start.type}`);
  onReset(run.start.workflowId);
  await simulation.newClient().workflowService.resetWorkflowExecution({
    namespace: engine.namespace,
    workflowExecution: { workflowId: run.start.workflowId, runId: run.start.runId },
    workflowTaskFinishEventId: eventId as never,
    requestId: random.uuid(),
    reason: 'campaign',
  });
}

/**
 * Whether another open flow goes on with its money, which it would not know of after a reset. A known fault: a command
 * that `paymentActions` has may be refused when it is repeated.
 */
function isGoneOnWith(run: Run, all: readonly Run[]): boolean {
  const paymentOf = (one: Run): string => Buffer.from(one.searchAttributes['PaymentId']?.data ?? []).toString();
  const paymentId = paymentOf(run);
  return all.some(
    (one) =>
      one !== run &&
      one.isOpen &&
      paymentId !== '' &&
      one.start.type === WORKFLOW_TYPES.paymentActions &&
      paymentOf(one) === paymentId,
  );
}

function tasksOf(run: Run): unknown[] {
  return run.events
    .filter(({ eventType }) => eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
    .map(({ eventId }) => eventId);
}
