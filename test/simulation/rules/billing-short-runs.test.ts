import { expect, test } from 'vitest';
import { answers, failsWith, HOUR, MINUTE, sharedTime, shownRuns } from './context.js';
import { beginWeekly, type WeeklyArguments } from './weekly.js';

/** Every task after the first ones is told to continue as new: what is still open then must be waited for, not polled. */
const time = sharedTime({ billing: true }, { suggestRunAfter: () => 8 });

test('a subscription that is to continue as new waits for the command that is still being answered', async () => {
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

/** The key is rejected until it is mended. */
async function unopened(overrides: WeeklyArguments[0] = {}) {
  const { id } = await time.sandbox.addFault(answers(401, 'GET', '/customers/*'));
  const subscription = await beginWeekly(time, overrides);
  return { ...subscription, mend: async () => await time.sandbox.removeFault(id) };
}

const toBeSentAgain = failsWith('ProviderUnavailable', 'send the command again');

test.each([
  ['now', 'by command'],
  ['periodEnd', 'at the end of the period'],
] as const)(
  'a cancel (%s) that waits for its start continues in the next run, and ends it unbilled',
  async (when, reason) => {
    const { flow, tried, reach, mend } = await unopened({ periods: 2 });
    const request = { commandId: 'stop', when };
    const refused = expect(flow.command('cancel', request)).rejects.toMatchObject(toBeSentAgain);
    await time.passUntil((await time.now()) + HOUR);
    await refused;
    const again = expect(flow.command('cancel', request)).rejects.toMatchObject(toBeSentAgain);
    await time.passUntil((await time.now()) + HOUR);
    await again;
    expect(shownRuns(time, flow.workflowId).length).toBeGreaterThan(2);
    await mend();
    await reach(30);
    expect(await flow.ended()).toMatchObject({ status: 'cancelled', reason, billedPeriods: 0 });
    expect(await tried()).toEqual([]);
  },
);

test('a pause that waits for its start continues in the next run: nothing is billed before the resume', async () => {
  const { flow, tried, reach, mend } = await unopened({ periods: 2 });
  const request = { commandId: 'stand-still' };
  const refused = expect(flow.command('pause', request)).rejects.toMatchObject(toBeSentAgain);
  await time.passUntil((await time.now()) + HOUR);
  await refused;
  await mend();
  await reach(1);
  expect(await flow.status()).toMatchObject({ status: 'paused' });
  expect(await flow.command('pause', request)).toMatchObject({ status: 'paused', billedPeriods: 0 });
  await reach(8);
  expect(await tried()).toEqual([]);
  await flow.command('resume', { missedPeriods: 'billAll' });
  await reach(30);
  expect((await tried()).map((line) => line.replace(/ day \d+/, ''))).toEqual([
    '1.1 Succeed 6000 EUR',
    '2.1 Succeed 6000 EUR',
  ]);
});

test('a question that waits for the start is answered when the run gives way, and holds no look-up up', async () => {
  const { flow, input, mend } = await unopened({ periods: 1 });
  const asked = time.holdfast.subscribe(input, { waitFor: '10 minutes' });
  await time.passUntil((await time.now()) + 5 * MINUTE);
  expect(shownRuns(time, flow.workflowId).length).toBeGreaterThan(1);
  await time.passUntil((await time.now()) + HOUR);
  expect(await asked).toMatchObject({ status: 'unknown', waitingFor: 'credentials' });
  await mend();
});

test('a command that waits for its start is answered before the run gives way, and holds nothing up', async () => {
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
