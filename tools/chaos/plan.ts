import type { FaultInput } from '../../sandbox/control.js';
import type { ChaosArguments } from './arguments.js';
import type { Flows } from './scenarios/scenarios.js';

/** Processes that are killed. The sandbox is not, because the audit relies on its ledger. */
export const VICTIMS = ['worker', 'temporal', 'webhook'] as const;
export type Victim = (typeof VICTIMS)[number];

interface PlannedKill {
  /** Share of the run that is over at the kill, from 0 to 1. */
  at: number;
  /** ms until the process is restarted. */
  downMs: number;
}

export type KillPlan = Readonly<Record<Victim, readonly PlannedKill[]>>;

/**
 * One kill per `everyMs` or per `everyFlows`, and at least `atLeast` kills in a run that is limited by flows. A flow
 * with commands lasts as long as several charges.
 */
interface Rate {
  everyMs: number;
  everyFlows: Readonly<Record<Flows, number>>;
  atLeast: Readonly<Record<Flows, number>>;
  longestDownMs: number;
}

const RATES: Readonly<Record<Victim, Rate>> = {
  worker: {
    everyMs: 15_000,
    everyFlows: { charge: 50, mixed: 200 },
    atLeast: { charge: 5, mixed: 2 },
    longestDownMs: 500,
  },
  temporal: {
    everyMs: 60_000,
    everyFlows: { charge: 300, mixed: 400 },
    atLeast: { charge: 1, mixed: 1 },
    longestDownMs: 1_500,
  },
  webhook: {
    everyMs: 30_000,
    everyFlows: { charge: 100, mixed: 200 },
    atLeast: { charge: 1, mixed: 1 },
    longestDownMs: 2_000,
  },
};

/** Plans the kills. The same arguments give the same plan. */
export function planKills({ until, seed, flows }: Pick<ChaosArguments, 'until' | 'seed' | 'flows'>): KillPlan {
  const random = randomOf(seed);
  const plan = (victim: Victim): PlannedKill[] => {
    const { everyMs, everyFlows, atLeast, longestDownMs } = RATES[victim];
    const count =
      'ms' in until
        ? Math.max(1, Math.round(until.ms / everyMs))
        : Math.max(atLeast[flows], Math.round(until.count / everyFlows[flows]));
    // One kill in each of `count` equal parts of the run, so that no two are likely to fall into the same restart.
    return Array.from({ length: count }, (_, part) => ({
      at: (part + random()) / count,
      downMs: Math.round(random() * longestDownMs),
    }));
  };
  return { worker: plan('worker'), temporal: plan('temporal'), webhook: plan('webhook') };
}

/** A fault of the payment service, and its label in the summary. */
export interface PlannedFault {
  label: string;
  fault: FaultInput;
}

/** Excludes `/tokens`, where no money moves. */
const CALLS = { path: '/payments*' };

/**
 * The sandbox tries the faults in order and applies the first that fires, so each probability refers to the calls that
 * the earlier faults leave. Of all calls, two shares lose their reply and each other kind of fault (garbage counts
 * once) hits one share.
 */
function callFaults(share: number): PlannedFault[] {
  const half = share / 2;
  return [
    { label: 'replies dropped after acting', fault: { ...CALLS, action: 'drop_reply', probability: 2 * share } },
    {
      label: 'answered 503',
      fault: { ...CALLS, action: 'status', status: 503, probability: share / (1 - 2 * share) },
    },
    { label: 'garbage instead of acting', fault: { ...CALLS, action: 'garbage', probability: half / (1 - 3 * share) } },
    {
      label: 'garbage after acting',
      fault: { ...CALLS, action: 'garbage', after: true, probability: half / (1 - 3.5 * share) },
    },
    { label: 'connections refused', fault: { ...CALLS, action: 'refuse', probability: share / (1 - 4 * share) } },
  ];
}

/** Calls for customers and their cards, which only some flows need. */
const CARD_CALLS = { path: '/customers*' };
const CARD_FAULTS: readonly PlannedFault[] = [
  { label: 'card calls: replies dropped', fault: { ...CARD_CALLS, action: 'drop_reply', probability: 0.1 } },
  { label: 'card calls: answered 503', fault: { ...CARD_CALLS, action: 'status', status: 503, probability: 0.05 } },
  {
    label: 'card calls: garbage after acting',
    fault: { ...CARD_CALLS, action: 'garbage', after: true, probability: 0.05 },
  },
];

const EVENT_FAULTS: readonly PlannedFault[] = [
  { label: 'events sent twice', fault: { action: 'repeat_event', probability: 0.3 } },
  // Delays add up. A delayed event is overtaken by later events of its payment.
  { label: 'events held back 0.4 s', fault: { action: 'delay_event', delay_ms: 400, probability: 0.3 } },
  { label: 'events held back 1.5 s', fault: { action: 'delay_event', delay_ms: 1_500, probability: 0.2 } },
  { label: 'events held back 4 s', fault: { action: 'delay_event', delay_ms: 4_000, probability: 0.05 } },
];

/** Polls may take minutes to find the result where their interval has grown, so charges alone lose no events. */
const LOST_EVENTS: PlannedFault = { label: 'events lost', fault: { action: 'lose_event', probability: 0.1 } };

/** A command needs seven or more calls, a charge two. So half the fault rate still hits a command several times. */
export function faultsOf(flows: Flows): readonly PlannedFault[] {
  return flows === 'mixed'
    ? [...callFaults(0.05), ...CARD_FAULTS, ...EVENT_FAULTS, LOST_EVENTS]
    : [...callFaults(0.1), ...EVENT_FAULTS];
}

/** Random numbers from 0 to below 1, the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
