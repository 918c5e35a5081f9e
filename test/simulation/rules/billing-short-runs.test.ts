import { expect, test } from 'vitest';
import { answers, failsWith, HOUR, sharedTime, shownRuns } from './scene.js';
import { beginWeekly } from './weekly.js';

/** Every task after the first ones is told to go on in another run: what is still open then must be waited for, not polled. */
const time = sharedTime({ billing: true }, { suggestRunAfter: () => 8 });

test('a subscription that is to go on in another run waits for the command that is still being answered', async () => {
  const { flow, input, reach, tried } = await beginWeekly(time, { periods: 4 });
  await reach(1);
  const slow = { action: 'delay', delay_ms: 4_000, method: 'GET', path: '*/payment-methods/*' } as const;
  const { id } = await time.sandbox.addFault(slow);
  const change = flow.command('changeCard', { token: input.token });
  const pause = flow.command('pause');
  await time.passUntil((await time.now()) + HOUR);
  await change;
  await pause;
  await time.sandbox.removeFault(id);
  await flow.command('resume', { missedPeriods: 'billAll' });
  await reach(30);
  expect(await tried()).toEqual([0, 7, 14, 21].map((day, at) => `${at + 1}.1 day ${day} Succeed 6000 EUR`));
  const runs = shownRuns(time, flow.workflowId);
  expect(runs.length).toBeGreaterThan(4);
  expect(runs.length).toBeLessThan(40);
  expect(Math.max(...runs)).toBeLessThan(80);
});

test('a command that waits for its start is refused before the run gives way, and holds nothing up', async () => {
  const { id } = await time.sandbox.addFault(answers(401, 'GET', '/customers/*'));
  const { flow } = await beginWeekly(time, { periods: 1 });
  const early = flow.command('changePlan', { amount: 9_000 });
  const refused = expect(early).rejects.toMatchObject(failsWith('ProviderUnavailable', 'send the command again'));
  await time.passUntil((await time.now()) + HOUR);
  await refused;
  expect(shownRuns(time, flow.workflowId).length).toBeGreaterThan(1);
  await time.sandbox.removeFault(id);
  await time.passUntil((await time.now()) + HOUR);
  expect(await flow.command('cancel', { when: 'now' })).toMatchObject({ status: 'cancelled' });
});
