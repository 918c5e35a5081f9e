import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { atFullCounts } from '../../support/at-full-counts.js';
import { movements } from '../../support/payments.js';
import { bundlePath } from '../../support/temporal.js';
import { braking } from './braking.js';
import { beginFlow, DONE, HOUR, inputOf, runLengths, sharedTime } from './context.js';

/** The workflow code of before there were brakes: to it a braked call is one that the service could not take. */
function olderCode(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-older-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const [before = '', after = '', ...more] = readFileSync(bundlePath(), 'utf8').split('details.braked === true');
  expect(more).toEqual([]);
  writeFileSync(join(folder, 'bundle.js'), `${before}false${after}`);
  return join(folder, 'bundle.js');
}

const time = sharedTime({}, { bundlePath: olderCode() });
const { brake, release } = braking(time);

test('a flow of older code, which knows no brakes, waits for a release', async () => {
  await brake();
  const freed = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  await time.passUntil(freed.startedAt + HOUR);
  expect(await freed.status()).toMatchObject({ status: 'started' });
  // About ten events every five minutes.
  expect(runLengths(time, freed.workflowId)[0]).toBeLessThan(200);
  await release();
  expect(await freed.outcome()).toMatchObject({ status: 'succeeded' });
  expect(await movements(time, freed.reference)).toEqual(DONE.charge);
});

atFullCounts('and without one has sent nothing when its window closes', async () => {
  await brake();
  const kept = await beginFlow(time, 'charge', await inputOf(time, 'charge'));
  expect(await kept.outcome()).toMatchObject({ status: 'notExecuted' });
  expect(await time.now()).toBeLessThan(kept.startedAt + 21 * HOUR);
  expect(time.requests.posts(kept.reference)).toEqual([]);
});
