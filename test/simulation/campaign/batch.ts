import { setTimeout as sleep } from 'node:timers/promises';
import { LONGEST_WAIT_MS } from '../../../src/contract/engine-port.js';
import type { PaymentRecord } from '../../../tools/audit/payment-record.js';
import type { DriverContext } from '../../../tools/chaos/driver/driver-context.js';
import { driverOf, LEAST_AMOUNT, unitsForScenarios } from '../../../tools/chaos/campaign.js';
import { runToEnd } from '../../../tools/chaos/scenarios/scenario.js';
import { LIMITS } from '../engine/limits.js';
import type { Run } from '../engine/run.js';
import { createSimulation, type Simulation } from '../simulation.js';
import { SANDBOX_URL } from '../world/world.js';
import { Seeded } from '../world/seeded.js';
import { Counts, type Plain } from './counts.js';
import { Deploys } from './deploys.js';
import { Workers } from './workers.js';
import { disturb } from './disturbances.js';
import { findViolations, type Violation } from './violations.js';
import { SimulatedOperator } from './operator.js';
import type { CampaignScenario, ScenarioContext } from './scenario.js';
import { PLAIN_SCENARIOS, SCENARIOS } from './scenarios.js';
import { ServiceFaults } from './service-faults.js';
import { tellStory } from './story.js';
import { attachMerchant, toldIn, type ToldMerchants } from './told.js';
import { KNOWN_UNITS, unitFor, WITHOUT_READS } from './units.js';
import { FAULT_PROFILES, FaultSchedule } from './fault-schedule.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Flows begin within this. */
const BEGINNING_MS = 20 * MINUTE_MS;
/** By then whoever has no answer gives up: longer than any subscription of the campaign lasts. */
const LIMIT_MS = 500 * DAY_MS;
/** Ten times what a batch needs: a flow that goes round in circles ends it. */
const MOST_FIRINGS = 200_000;
const CURRENCIES = ['USD', 'EUR', 'JPY', 'KWD'] as const;
/** Plain payments beside each course of events, as most of a day's are: they share workers, schedule and disturbances. */
const BESIDES = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'] as const;
const ALL_UNITS = unitsForScenarios(KNOWN_UNITS, { count: 1_000 });
/** Of one unit's calls in a worker: so few that many are held back. */
const FEW_CALLS = Object.fromEntries(KNOWN_UNITS.map(({ name }) => [name, 2]));
const NARROW_BULKHEAD = { places: { local: 1, posts: 2, reads: 2, waiting: 2 }, opensFrom: 1 };
/** Of worker and service against the engine. */
const FURTHEST_CLOCK_MS = 10 * MINUTE_MS;

export interface BatchPlan {
  readonly seed: string;
  /** Of its first flow. */
  readonly first: number;
  readonly courses: number;
  /** Only on the unit of this name. */
  readonly unit?: string | undefined;
  /** Tells the whole story of this flow, whatever became of it. */
  readonly only?: number;
  /** Of which runs the whole history is replayed at the end, by their number. Default all. */
  readonly replays?: (index: number) => boolean;
}

export interface BatchResult {
  readonly violations: readonly Violation[];
  readonly counts: Plain;
  readonly stories: readonly string[];
}

/** A batch that did not end leaves its flows behind: whatever runs after it in the same process proves nothing. */
let unended: number | undefined;

/**
 * Some flows on a world of their own.
 * @throws Error when they do not end, and in each later call of this process
 */
export async function runBatch(plan: BatchPlan): Promise<BatchResult> {
  if (unended !== undefined) throw new Error(`Not run, since the batch of flow ${unended} has not ended`);
  const random = new Seeded(`${plan.seed}/${plan.first}`);
  const counts = new Counts();
  const schedule = new FaultSchedule(random.pick(FAULT_PROFILES), random, counts);
  const deploys = new Deploys(random, counts);
  const simulation = await createSimulation({
    seed: `${plan.seed}/${plan.first}/world`,
    units: ALL_UNITS,
    ...toldIn(plan),
    strategy: () => schedule.network,
    latency: schedule.hop,
    suggestRunAfter: ({ start }) => runLength(`${plan.seed}/${plan.first}`, start),
    targetBuild: (run) => deploys.targetOf(run),
    mostFirings: MOST_FIRINGS,
    bulkhead: {
      observer: { circuit: () => undefined, heldBack: (_unit, because) => counts.add('held back', because) },
      // Of eight batches one with an even number and one with an odd one: two files share a full campaign so.
      ...([16, 40].includes(plan.first % 64) && NARROW_BULKHEAD),
    },
    ...(new Seeded(`${plan.seed}/${plan.first}/limits`).chance(0.05) && { limits: FEW_CALLS }),
    // Nothing may be correct only because an event waits, nor because it does not.
    waitForEndMs: new Seeded(`${plan.seed}/${plan.first}/waits`).pick([0, LONGEST_WAIT_MS]),
    settings: {
      // An hour for few, a minute for few: whatever pends so long is polled for a third of all that happens.
      pendingMs: random.pick([1_000, 60_000, 1_000, 10_000, 1_000, 3_000, 1_000, 3_600_000]),
      resendFirstMs: random.pick([1_000, 30_000, 30_000]),
      eventOrder: new Seeded(`${plan.seed}/${plan.first}/order`).pick(['kept', 'parallel']),
    },
    workerAheadMs: random.int(-FURTHEST_CLOCK_MS, FURTHEST_CLOCK_MS),
  });
  const merchants = attachMerchant(simulation, `${plan.seed}/${plan.first}`);
  try {
    return (await simulation.world.time.runUntil(
      runCourses(simulation, plan, random, schedule, deploys, counts, merchants),
      `the batch of flow ${plan.first}: npm run simulate -- --seed ${plan.seed} --only ${plan.first}`,
    )) as BatchResult;
  } catch (error) {
    unended = plan.first;
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n  ${busiest(simulation)}`, {
      cause: error,
    });
  } finally {
    await simulation.close();
  }
}

/** Whose flows have the most events: one that goes round in circles is among them. */
function busiest({ engine }: Simulation): string {
  const events = new Map<string, number>();
  for (const { start, events: ofRun } of engine.all())
    events.set(start.workflowId, (events.get(start.workflowId) ?? 0) + ofRun.length);
  return [...events]
    .toSorted(([, one], [, other]) => other - one)
    .slice(0, 5)
    .map(([id, many]) => `${id}: ${many} events${engine.find(id)?.isOpen === true ? ', open' : ''}`)
    .concat(engine.findings.slice(-1))
    .join('\n  ');
}

/** A part of the payments continues as new every few polls, as a server would suggest after years of them. */
function runLength(seed: string, { workflowId, type }: Run['start']): number {
  const random = new Seeded(`${seed}/${workflowId}/run`);
  const isShort = type !== 'subscription' && random.int(1, 3) === 1;
  // Where nothing can be read a flow polls for days until a person comes: that many runs would show nothing more.
  const longer = WITHOUT_READS.some(({ name }) => workflowId.includes(name)) ? 8 : 1;
  return isShort ? longer * random.int(10, 40) : LIMITS.suggestContinueAsNewEvents;
}

async function runCourses(
  simulation: Simulation,
  plan: BatchPlan,
  random: Seeded,
  schedule: FaultSchedule,
  deploys: Deploys,
  counts: Counts,
  merchants: ToldMerchants,
): Promise<BatchResult> {
  const { world, holdfast, client, engine } = simulation;
  const begunAt = Date.now();
  await world.control.advanceClock(random.int(0, FURTHEST_CLOCK_MS));
  const webhooks = await world.connectWebhooks(simulation.newClient());
  const workers = new Workers(simulation, schedule, random, counts);
  for (let left = random.int(1, 4); left > 0; left -= 1) workers.hire();
  const faults = new ServiceFaults(world.control, counts);
  if (schedule.profile.withServiceFaults) await faults.plant();
  const records: PaymentRecord[] = [];
  const resets = new Set<string>();
  const operator = new SimulatedOperator(simulation, counts);
  const disturbed = disturb(
    { simulation, webhooks, workers, faults, operator, schedule, random, counts, onReset: (id) => void resets.add(id) },
    MINUTE_MS,
  );
  const operated = operator.work(() => schedule.isOver);
  const deployed = deploys.work(simulation, schedule);

  const parts: DriverContext = {
    holdfast,
    temporal: client,
    sandbox: world.control,
    sandboxUrl: SANDBOX_URL,
    limit: () => begunAt + LIMIT_MS,
    longestPauseMs: 6 * 60 * MINUTE_MS,
    waitForMs: MINUTE_MS,
    addRecord: (record) => void records.push(record),
  };
  const begin = async (number: number, own: Seeded, scenario: CampaignScenario, mark = ''): Promise<void> => {
    const unit = unitFor(number, plan, own);
    const driver = driverOf(parts, scenario, unit, {
      number,
      reference: `f${number}${mark}-${unit.name}`.slice(0, 32),
      amount: LEAST_AMOUNT + 10 * number,
      currency: own.pick(CURRENCIES),
    });
    const context: ScenarioContext = { simulation, unit, random: own, counts, parts };
    await sleep(own.int(0, BEGINNING_MS));
    counts.add('scenario', scenario.name);
    await runToEnd(driver, () => scenario.run(driver, (values) => own.pick(values), context));
  };
  await Promise.all(
    Array.from({ length: plan.courses }, (_, index) => plan.first + index).flatMap((number) => [
      begin(number, random.fork(`flow ${number}`), SCENARIOS[number % SCENARIOS.length]!),
      ...BESIDES.map((mark) => {
        const own = random.fork(`flow ${number}${mark}`);
        return begin(number, own, own.pick(PLAIN_SCENARIOS), mark);
      }),
    ]),
  );
  schedule.isOver = true;
  await disturbed;
  await deployed;
  await faults.lift();
  webhooks.deliver('up');
  world.sandbox.serve('up');
  if (!engine.isUp) engine.up();
  workers.hire();
  await operated;
  const looks = { simulation, records, resets, operator, counts, webhooks, merchants, replays: plan.replays };
  const violations = await findViolations({ ...looks, units: ALL_UNITS });
  const shown = plan.only === undefined ? [...new Set(violations.map(({ flow }) => flow))].slice(0, 3) : [plan.only];
  const ledger = await world.control.ledger();
  const stories = shown.map((flow) => tellStory(simulation, records, ledger, flow));
  return { violations, counts: counts.plain(), stories };
}
