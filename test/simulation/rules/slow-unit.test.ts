import { setTimeout as later } from 'node:timers';
import type { Dispatcher } from 'undici';
import { expect, test } from 'vitest';
import { PLAIN_UNIT, type ProfileUnit } from '../../../tools/stack/profile-units.js';
import { CARDS, newReference } from '../../support/charges.js';
import { createSimulation, type Simulation } from '../simulation.js';

const SLOW_UNIT: ProfileUnit = {
  ...PLAIN_UNIT,
  name: 'slow',
  appId: 'holdfast-sandbox-slow',
  privateKey: 'sandbox-private-key-slow',
  publicKey: 'sandbox-public-key-slow',
};
const PLACES = { local: 4, posts: 8, reads: 2, waiting: 2 };
const SECOND = 1_000;

/** Calls of the slow unit. */
interface Load {
  /** How many were under way at once. */
  most: number;
  isSlow: boolean;
  /** What became of its circuit. */
  reported: string[];
}
const slowLoad = (): Load => ({ most: 0, isSlow: true, reported: [] });

/** Each call of the slow unit takes 10 s to reach the service. */
function slowly(load: Load): (dispatcher: Dispatcher) => Dispatcher {
  let now = 0;
  return (dispatcher) =>
    dispatcher.compose((dispatch) => (options, handler) => {
      const { 'app-id': appId } = options.headers as Record<string, string>;
      if (appId !== SLOW_UNIT.appId || !load.isSlow) return dispatch(options, handler);
      now += 1;
      load.most = Math.max(load.most, now);
      later(() => {
        now -= 1;
        dispatch(options, handler);
      }, 10 * SECOND);
      return true;
    });
}

const simulate = async (load: Load): Promise<Simulation> =>
  await createSimulation({
    seed: 'a slow unit',
    units: [PLAIN_UNIT, SLOW_UNIT],
    webhooks: false,
    bulkhead: {
      places: PLACES,
      observer: {
        circuit: (unit, state) => void load.reported.push(`${unit} ${state}`),
        heldBack: () => undefined,
      },
    },
    noting: slowly(load),
  });

/** @returns virtual ms until the answer */
async function charge({ world, holdfast }: Simulation, unit: ProfileUnit): Promise<number> {
  const begun = world.time.now();
  const { token } = await world.control.tokenize({ cardNumber: CARDS.succeeds, publicKey: unit.publicKey });
  const asked = {
    reference: newReference(),
    businessUnit: unit.name,
    amount: 1_095,
    currency: 'USD',
    paymentMethod: { type: 'tokenized', token },
  } as const;
  let status: string;
  do ({ status } = await holdfast.charge(asked, { waitFor: '5 minutes' }));
  while (status === 'unknown');
  expect(status).toBe('succeeded');
  return world.time.now() - begun;
}

const charges = async (simulation: Simulation, unit: ProfileUnit, many: number): Promise<number[]> =>
  await Promise.all(Array.from({ length: many }, () => charge(simulation, unit)));

/** How many flows have sent a call outside of their first task. */
const sentLater = ({ engine }: Simulation): number =>
  [...engine.all()].filter(({ events }) => events.some((event) => event.activityTaskScheduledEventAttributes != null))
    .length;

async function chargesOf({ world }: Simulation): Promise<string[]> {
  return (await world.control.ledger())
    .filter(({ kind }) => kind === 'charge')
    .map(({ reconciliation_id: of, status }) => `${of} ${status}`)
    .toSorted();
}

test('a service that takes 10 s holds a part of the places, every charge is made once, and others do not notice', async () => {
  const load = slowLoad();
  const simulation = await simulate(load);
  try {
    simulation.startWorker();
    const slow = charges(simulation, SLOW_UNIT, 40);
    const others = await charges(simulation, PLAIN_UNIT, 10);
    expect(Math.max(...others)).toBeLessThan(SECOND);
    expect((await slow).length).toBe(40);
    expect(load.most).toBeGreaterThanOrEqual(PLACES.local + PLACES.posts);
    expect(load.most).toBeLessThanOrEqual(PLACES.local + PLACES.posts + PLACES.reads);
    const made = await chargesOf(simulation);
    expect(made.length).toBe(50);
    expect(new Set(made).size).toBe(50);
  } finally {
    await simulation.close();
  }
});

test('a service that has been slow is tried in the first task again once a probe was answered in time', async () => {
  const load = slowLoad();
  const simulation = await simulate(load);
  try {
    simulation.startWorker();
    await charges(simulation, SLOW_UNIT, 20);
    expect(load.reported).toEqual(['slow open']);
    load.isSlow = false;
    await charges(simulation, SLOW_UNIT, 1);
    expect(load.reported).toEqual(['slow open', 'slow closed']);
    const before = sentLater(simulation);
    expect(before).toBeGreaterThan(0);
    for (let left = 10; left > 0; left -= 1) expect(await charge(simulation, SLOW_UNIT)).toBeLessThan(SECOND);
    expect(sentLater(simulation)).toBe(before);
  } finally {
    await simulation.close();
  }
});
