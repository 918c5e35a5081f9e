import type { FaultInput } from '../../sandbox/control.js';
import type { ChaosArguments } from './arguments.js';
import type { Flows } from './scenarios/scenarios.js';

/** The processes that are killed. The sandbox is not: it keeps the ledger by which all is judged. */
export const VICTIMS = ['worker', 'temporal', 'webhook'] as const;
export type Victim = (typeof VICTIMS)[number];

interface PlannedKill {
  /** Share of the run that is over by then, from 0 to 1. */
  at: number;
  /** How long (ms) it stays down before it is started again. */
  downMs: number;
}

export type KillPlan = Readonly<Record<Victim, readonly PlannedKill[]>>;

/**
 * One kill in so many ms, or in so many flows, and at least so many in a run that is counted in flows. A flow with
 * commands lasts as long as several charges.
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

/** When which process dies: the same for the same arguments. */
export function planKills({ until, seed, flows }: Pick<ChaosArguments, 'until' | 'seed' | 'flows'>): KillPlan {
  const random = randomOf(seed);
  const plan = (victim: Victim): PlannedKill[] => {
    const { everyMs, everyFlows, atLeast, longestDownMs } = RATES[victim];
    const count =
      'ms' in until
        ? Math.max(1, Math.round(until.ms / everyMs))
        : Math.max(atLeast[flows], Math.round(until.count / everyFlows[flows]));
    // One in each of as many equal parts, so that none falls into the restart after another.
    return Array.from({ length: count }, (_, part) => ({
      at: (part + random()) / count,
      downMs: Math.round(random() * longestDownMs),
    }));
  };
  return { worker: plan('worker'), temporal: plan('temporal'), webhook: plan('webhook') };
}

/** What the payment service does wrong, and how the summary calls it. */
export interface PlannedFault {
  label: string;
  fault: FaultInput;
}

/** Not on `/tokens`, where no money moves. */
const CALLS = { path: '/payments*' };

/**
 * The sandbox tries them one after the other and stops at the first that fires, so that each probability counts
 * for what the ones before it leave: of all calls two shares lose their reply, and one share each meets one of the
 * others.
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

/** Customers and their cards, which only some flows need. */
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
  // Delays add up. An event that is held back is overtaken by later ones of its payment.
  { label: 'events held back 0.4 s', fault: { action: 'delay_event', delay_ms: 400, probability: 0.3 } },
  { label: 'events held back 1.5 s', fault: { action: 'delay_event', delay_ms: 1_500, probability: 0.2 } },
  { label: 'events held back 4 s', fault: { action: 'delay_event', delay_ms: 4_000, probability: 0.05 } },
];

/** What an event that never comes leaves to the polls takes minutes where they have grown: not for charges alone. */
const LOST_EVENTS: PlannedFault = { label: 'events lost', fault: { action: 'lose_event', probability: 0.1 } };

/** A command needs seven calls or more, a charge two: half as many faults meet it several times all the same. */
export function faultsOf(flows: Flows): readonly PlannedFault[] {
  return flows === 'mixed'
    ? [...callFaults(0.05), ...CARD_FAULTS, ...EVENT_FAULTS, LOST_EVENTS]
    : [...callFaults(0.1), ...EVENT_FAULTS];
}

/** Numbers from 0 up to 1, the same ones for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
