import { expect, test } from 'vitest';
import { SIGNAL_NAMES } from '../../../src/contract/names.js';
import { firstRunOf, resetToFirstTask } from '../../support/resets.js';
import { HOUR, sharedTime } from './context.js';
import { beginWeekly } from './weekly.js';

/** A reset to a run that others have followed gives it what all of them were told, at once. */
const time = sharedTime({ billing: true });

async function resetToFirstRun(workflowId: string): Promise<void> {
  await resetToFirstTask(time.client, workflowId, [], await firstRunOf(time.client, workflowId));
  await time.passUntil((await time.now()) + HOUR);
}

test('a command that two runs were given, whose caller has lost the first answer, keeps none from being reset', async () => {
  const { flow, reach, tried } = await beginWeekly(time);
  await reach(0);
  const pause = async () => await time.holdfast.subscription.pause(flow.reference, { commandId: 'holiday' });
  await pause();
  await time.client.workflow.getHandle(flow.workflowId).signal(SIGNAL_NAMES.moveOn);
  await flow.worksOn();
  await pause();
  await resetToFirstRun(flow.workflowId);
  expect(await flow.status()).toMatchObject({ status: 'paused' });
  await reach(8);
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
  await flow.command('cancel', { when: 'now' });
});

test('of more commands than one run takes none is lost: what was cancelled weeks ago is not billed again', async () => {
  const { flow, reach, tried } = await beginWeekly(time, { periods: 5 });
  await reach(0);
  for (let at = 0; at < 155; at += 1) await flow.command('changeTerms', { metadata: { at: String(at) } });
  await flow.command('cancel', { when: 'periodEnd' });
  await reach(3);
  await resetToFirstRun(flow.workflowId);
  await reach(16);
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
  const handle = time.client.workflow.getHandle(flow.workflowId);
  expect(await handle.result()).toMatchObject({ status: 'cancelled', billedPeriods: 1 });
});
