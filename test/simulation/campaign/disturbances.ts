import { setTimeout as sleep } from 'node:timers/promises';
import type { Run } from '../engine/run.js';
import { EventType } from '../engine/shapes.js';
import type { Simulation } from '../simulation.js';
import type { Seeded } from '../world/seeded.js';
import type { WebhookSide } from '../world/webhook-side.js';
import type { Counts } from './counts.js';
import type { Crew } from './crew.js';
import type { ServiceFaults } from './service-faults.js';
import type { Weather } from './weather.js';

const MINUTE_MS = 60_000;

export interface DisturbanceParts {
  simulation: Simulation;
  webhooks: WebhookSide;
  crew: Crew;
  faults: ServiceFaults;
  weather: Weather;
  random: Seeded;
  counts: Counts;
  /** Told of a flow that somebody has reset. */
  onReset: (workflowId: string) => void;
}

type Disturbance = (parts: DisturbanceParts, random: Seeded) => Promise<void> | void;

/** What happens to the processes and to the flows from outside, each with how often it is chosen. */
const DISTURBANCES: readonly (readonly [name: string, share: number, act: Disturbance])[] = [
  ['worker dies', 6, ({ crew }) => crew.killOne()],
  ['worker replaced', 2, ({ crew }) => crew.replaceOne()],
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
  ['keys refused', 1, ({ faults }, random) => faults.refuseKeys(random.int(1_000, 2 * MINUTE_MS))],
  [
    'old events sent again',
    3,
    async ({ simulation: { world } }, random) => {
      const sent = await world.control.deliveries({});
      for (let times = 0; times < 5 && sent.length > 0; times += 1) await world.control.resend(random.pick(sent).id);
    },
  ],
  ['flow reset', 3, (parts, random) => reset(parts, random)],
];
const SHARES = DISTURBANCES.reduce((sum, [, share]) => sum + share, 0);

/** Goes on until the weather is over. */
export async function disturb(parts: DisturbanceParts, everyMs: number): Promise<void> {
  const random = parts.random.fork('disturbances');
  for (let pause = everyMs; ; pause = Math.min(pause * 1.05, 12 * 60 * MINUTE_MS)) {
    await sleep(Math.round(pause * 2 * random.next()));
    if (parts.weather.isOver) return;
    let draw = random.next() * SHARES;
    const [name, , act] = DISTURBANCES.find(([, share]) => (draw -= share) < 0) ?? DISTURBANCES[0]!;
    parts.counts.add('disturbance', name);
    await act(parts, random);
  }
}

/** As an operator does with `temporal workflow reset`, to any task of an open or ended run. */
async function reset({ simulation, onReset, counts }: DisturbanceParts, random: Seeded): Promise<void> {
  const { engine, newClient } = simulation;
  const runs = [...engine.all()].filter((run) => run === engine.find(run.start.workflowId) && tasksOf(run).length > 0);
  if (runs.length === 0 || !engine.isUp) return;
  const run = random.pick(runs);
  const eventId = random.pick(tasksOf(run));
  counts.add('reset', `${run.isOpen ? 'open' : 'ended'} ${run.start.type}`);
  onReset(run.start.workflowId);
  await newClient().workflowService.resetWorkflowExecution({
    namespace: engine.namespace,
    workflowExecution: { workflowId: run.start.workflowId, runId: run.start.runId },
    workflowTaskFinishEventId: eventId as never,
    requestId: random.uuid(),
    reason: 'campaign',
  });
}

function tasksOf(run: Run): unknown[] {
  return run.events
    .filter(({ eventType }) => eventType === EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED)
    .map(({ eventId }) => eventId);
}
