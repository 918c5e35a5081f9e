import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../support/temporary-folder.js';
import { unitsOf } from '../../tools/stack/profile-units.js';
import { ALL_IS_WELL, countsOf, numbersOf, startChaos, verdictOf } from '../support/chaos-command.js';
import { fullOr } from '../support/counts.js';

const CHARGES = fullOr(150, 48);
const LIMIT_MS = fullOr(900_000, 300_000);

/** A flow can't know sooner than the ledger; what is told must fit them, one transaction to each reference. */
describe('charges under lost replies, 503s, garbage, refused connections, late and repeated events, and kills, on every profile', () => {
  test(
    'all end as the ledger says, each success with one movement, none unknown, no flow open or failing, no event lost',
    async () => {
      const folder = temporaryFolder();
      const chaos = startChaos(['--flows', 'charge', '--count', String(CHARGES), '--concurrency', '16'], folder);
      const { code } = await chaos.ended;
      const output = chaos.output();
      expect(verdictOf(output)).toBe(ALL_IS_WELL);
      expect(code).toBe(0);

      const of = numbersOf(output);
      expect([of('flows asked for'), of('charge with any card')]).toEqual([CHARGES, CHARGES]);
      const { succeeded = 0, declined = 0, notExecuted = 0, ...others } = countsOf(output, 'charge with any card');
      // None is pending or unknown, none is without an answer, and none ended with an error.
      expect(others).toEqual({});
      expect(succeeded + declined + notExecuted).toBe(CHARGES);
      expect(of('transactions')).toBe(succeeded + declined);
      expect(of('movements of money')).toBe(succeeded);
      expect(countsOf(output, 'movements of money')).toMatchObject({ charge: succeeded });
      // Of what took no money nothing is refunded.
      expect(of('refunds')).toBe(declined + notExecuted);
      expect(countsOf(output, 'refunds')).toEqual({ refused: declined + notExecuted });
      for (const fault of ['differences from the answers', 'still open', 'with failed tasks', 'not acknowledged']) {
        expect([fault, of(fault)]).toEqual([fault, 0]);
      }

      const profiles = unitsOf('all').map(({ name }) => name);
      expect(profiles.map(of).reduce((sum, count) => sum + count, 0)).toBe(CHARGES);
      expect(Math.min(...profiles.map(of))).toBeGreaterThanOrEqual(Math.floor(CHARGES / profiles.length));

      // Else no fault was met.
      expect(of('worker')).toBeGreaterThanOrEqual(5);
      expect(of('Temporal server')).toBeGreaterThanOrEqual(1);
      expect(of('webhook handler')).toBeGreaterThanOrEqual(1);
      // At reduced counts the few kills may all find a worker that holds no task.
      expect(of('tasks lost with a worker')).toBeGreaterThanOrEqual(fullOr(1, 0));
      expect(of('replies dropped after acting')).toBeGreaterThan(CHARGES / 20);
      expect(of('answered 503')).toBeGreaterThan(0);
      expect(of('garbage instead of acting') + of('garbage after acting')).toBeGreaterThan(0);
      expect(of('connections refused')).toBeGreaterThan(0);
      expect(of('events sent twice')).toBeGreaterThan(0);
      expect(of('events held back 0.4 s') + of('events held back 1.5 s')).toBeGreaterThan(0);

      expect(readdirSync(folder).filter((name) => name.startsWith('holdfast-'))).toEqual([]);
    },
    LIMIT_MS,
  );
});
