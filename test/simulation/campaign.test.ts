import { describe, expect, test } from 'vitest';
import { fullOr } from '../support/storm.js';
import { batchesOf, faultsOfCampaign } from './campaign/campaign.js';
import { runBatch } from './campaign/batch.js';
import { Counts } from './campaign/counts.js';
import { ENOUGH_FLOWS, neverOccurred } from './campaign/never-zero.js';

/** The same on every commit, so that a fault that is found is not lost with the next one. */
const SEED = process.env['HOLDFAST_SIMULATION_SEED'] ?? '1';
const FLOWS = fullOr(2_000, 100);

describe(`flows of every type on virtual time, with faults from seed ${SEED}`, () => {
  const counts = new Counts();
  const batches = batchesOf({ flows: FLOWS });

  test.each(batches)(
    'what callers were told is what the ledger says, for the courses of events from number $first on',
    async ({ first, plays }) => {
      const one = await runBatch({ seed: SEED, first, plays });
      counts.addAll(one.counts);
      const faults = faultsOfCampaign(
        { ...one, wrongs: [...one.wrongs], stories: [], counts },
        { seed: SEED, flows: FLOWS, only: first },
      );
      expect(faults, one.stories.join('\n')).toEqual([]);
    },
    600_000,
  );

  test('every flow type, fault, message, ending and crash point has occurred', () => {
    // A short run has too few of them for all.
    if (FLOWS >= ENOUGH_FLOWS) expect(neverOccurred(counts)).toEqual([]);
    const flows = Object.values(counts.plain()['flow type'] ?? {}).reduce((sum, times) => sum + times, 0);
    expect(flows).toBeGreaterThanOrEqual(FLOWS);
  });
});
