import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CHANGES } from '../replay/changes.js';
import { goldenNames, readGolden } from '../replay/golden.js';
import { type Runtime, workflowRuntime } from '../replay/runtime.js';
import { atFullCounts } from '../support/at-full-counts.js';
import { inTurn } from '../support/counts.js';
import { bundlePath } from '../support/temporal.js';
import { disagreements, localsOf, simulated } from './conformance.js';
import { MOMENTS, OTHER_MOMENTS } from './moments.js';

/** Hours of retries: seconds each, and others like them are short. */
const LONG = new Set([
  'authorize-reauthorized-after-it-lapsed',
  'authorize-not-executed-absence-proven',
  'authorize-not-executed-payment-never-created',
  'charge-not-executed-payment-never-created',
  'charge-pending-for-days-then-poll',
  'charge-succeeded-found-after-the-window',
  'store-card-not-executed-absence-proven',
  'store-card-not-executed-customer-never-made',
  'store-card-not-refunded',
  'store-card-not-stored-token-expired',
]);

const names = goldenNames();
/** Types of flow with so few histories that a fifth of all may hold none of them. */
const RARE = /^(?:brakes|bulk|list-cards|outgoing|remove-card|resolve-pending)/;
/** A short run takes every fifth one, and the rare ones; which fifth is by its seed, as all are taken at full counts. */
const sampled = inTurn(5);
const taken = names.filter((name, index) => sampled(index) || RARE.test(name));

describe('the simulation does what the real engine did, command by command', () => {
  let runtime: Runtime;
  beforeAll(async () => {
    runtime = await workflowRuntime(bundlePath());
  });
  afterAll(async () => {
    await runtime?.close();
  });

  test('every history whose moments are taken exists', () => {
    expect(Object.keys(MOMENTS).filter((name) => !names.includes(name))).toEqual([]);
  });

  for (const name of taken) {
    (LONG.has(name) ? atFullCounts : test)(name, async () => {
      const golden = await readGolden(name);
      const { history, overdue } = await simulated(golden, MOMENTS[name]);
      const locals = await localsOf(runtime, history);
      const all = disagreements(golden, { history, locals }, CHANGES);
      expect(name in OTHER_MOMENTS ? all.filter((one) => !one.includes('sinceStart')) : all).toEqual([]);
      expect(overdue).toEqual([]);
    });
  }
});
