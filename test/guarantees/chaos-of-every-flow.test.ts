import { readdirSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { SCENARIOS } from '../../tools/chaos/scenarios/scenarios.js';
import { unitsWithOperator } from '../../tools/stack/profile-units.js';
import { ALL_IS_WELL, numbersOf, startChaos, verdictOf } from '../support/chaos-command.js';
import { fullOr } from '../support/counts.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const FLOWS = fullOr(130, 39);
const LIMIT_MS = fullOr(3_600_000, 300_000);
const PROFILES = unitsWithOperator('all').map(({ name }) => name);

/**
 * Which scenario meets which profile goes by the seed, another one each time: the summary names it. Its verdict covers
 * the ledger of each payment (authorized >= captured >= refunded, each operation at most once, no hold left over), every
 * answer, every flow and every event.
 */
describe('charges, holds, captures, voids, refunds, credits and reviews under lost replies, 503s, garbage, refused connections, kills, and late, repeated and lost events, on every profile', () => {
  test(
    'all end as the ledger says, each operation once at most, nothing unknown, no hold left, no flow open or failing',
    async () => {
      const folder = temporaryFolder();
      const args = ['--flows', 'mixed', '--count', String(FLOWS), '--concurrency', String(fullOr(32, 16))];
      const chaos = startChaos(args, folder);
      const { code } = await chaos.ended;
      const output = chaos.output();
      expect(verdictOf(output)).toBe(ALL_IS_WELL);
      expect(code).toBe(0);

      const of = numbersOf(output);
      expect(of('flows asked for')).toBe(FLOWS);
      for (const fault of ['differences from the answers', 'still open', 'with failed tasks', 'not acknowledged']) {
        expect([fault, of(fault)]).toEqual([fault, 0]);
      }

      expect(PROFILES.map(of).reduce((sum, count) => sum + count, 0)).toBe(FLOWS);
      expect(Math.min(...PROFILES.map(of))).toBeGreaterThanOrEqual(Math.floor(FLOWS / PROFILES.length));
      const runs = SCENARIOS.map(({ name }) => of(name));
      // Not each as often as all others: the number of profiles shares divisors with that of scenarios.
      expect(Math.min(...runs)).toBeGreaterThanOrEqual(Math.floor(FLOWS / SCENARIOS.length / 2));

      const inCurrencies = ['USD', 'JPY', 'KWD'].map(of);
      expect(inCurrencies.reduce((sum, count) => sum + count, 0)).toBe(FLOWS);
      expect(Math.min(...inCurrencies)).toBeGreaterThanOrEqual(Math.floor(FLOWS / 4));

      // Else no fault was met.
      const needed = [
        ...['captures', 'voids', 'refunds', 'replies dropped after acting', 'answered 503', 'connections refused'],
        ...['events sent twice', 'events held back 0.4 s', 'events lost', 'Temporal server', 'webhook handler'],
      ];
      expect(needed.filter((label) => of(label) === 0)).toEqual([]);
      expect(of('garbage instead of acting') + of('garbage after acting')).toBeGreaterThan(0);
      expect(of('worker')).toBeGreaterThanOrEqual(2);

      expect(readdirSync(folder).filter((name) => name.startsWith('holdfast-'))).toEqual([]);
    },
    LIMIT_MS,
  );
});
