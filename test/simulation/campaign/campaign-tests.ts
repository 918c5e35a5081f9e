import { describe, expect, test } from 'vitest';
import { everyNth, fullOr, inTurn } from '../../support/counts.js';
import { runBatch } from './batch.js';
import { batchesOf, faultsOfCampaign } from './campaign.js';
import { Counts } from './counts.js';
import { neverOccurred } from './never-zero.js';

/** The same on every commit, so that a fault that is found is not lost with the next one. */
const SEED = process.env['HOLDFAST_SIMULATION_SEED'] ?? '2';
/** The full campaign is shared by two files, so that two processes run it. */
const FILES = fullOr(2, 1);
/** Of all files. At full counts more are asked for, since the courses of a seed may have fewer; a short run takes each course once. */
const LEAST_FLOWS = fullOr(20_000, 1_000);
const FLOWS = fullOr(20_400, 940);

const isShort = process.env['HOLDFAST_RUN'] === 'short';
/** `npm test` leaves five of six batches to `npm run verify`: with each commit others. */
const isTaken = isShort ? everyNth(6) : () => true;

/** @param index of the file among those that share the campaign */
export function campaignTests(index: number): void {
  describe(`flows of every type on virtual time, with faults from seed ${SEED}`, () => {
    const counts = new Counts();

    test.each(batchesOf({ flows: FLOWS, share: { index, of: FILES } }).filter((_, at) => isTaken(at)))(
      'what callers were told is what the ledger says, for the courses of events from number $first on',
      async ({ first, courses }) => {
        const one = await runBatch({ seed: SEED, first, courses, replays: inTurn(4) });
        counts.addAll(one.counts);
        const faults = faultsOfCampaign(
          { ...one, violations: [...one.violations], stories: [], counts },
          { seed: SEED, flows: FLOWS, only: first },
        );
        expect(faults, one.stories.join('\n')).toEqual([]);
      },
      600_000,
    );

    const where = isShort ? ' (only where all are played: npm run verify)' : '';
    test.skipIf(isShort)(`every flow type, fault, message, ending and crash point has occurred${where}`, () => {
      expect(neverOccurred(counts)).toEqual([]);
      const flows = Object.values(counts.plain()['flow type'] ?? {}).reduce((sum, times) => sum + times, 0);
      expect(flows).toBeGreaterThanOrEqual(LEAST_FLOWS / FILES);
    });
  });
}
