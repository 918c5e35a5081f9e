import { expect, test } from 'vitest';
import { resetTo, tasksOf } from '../../support/resets.js';
import { HOUR, MINUTE, sharedTime } from './context.js';
import { beginWeekly } from './weekly.js';

const time = sharedTime({ billing: true }, { webhooks: true });
const pass = async (ms: number): Promise<void> => await time.passUntil((await time.now()) + ms);

test.each([
  ['before them', 0],
  ['among them', 1],
  ['after them', 2],
])('a dispute that came beside commands holds after a reset, and the next worker goes on: %s', async (_when, at) => {
  const { flow, reach, tried } = await beginWeekly(time);
  await reach(1);
  const handle = time.client.workflow.getHandle(flow.workflowId);
  // So that its handlers are there before what the reset gives again.
  await flow.command('changeTerms', { metadata: { shop: '7' } });
  const { runId } = await handle.describe();
  const task = (await tasksOf(time.client, flow.workflowId, runId)).at(-1);
  const [bill] = await time.sandbox.ledger(`${flow.reference}.1.1`);
  const given = [() => flow.command('pause'), () => flow.command('resume')];
  given.splice(at, 0, async () => {
    await time.sandbox.dispute(bill?.transaction_id ?? '');
    await pass(HOUR);
    return {} as never;
  });
  for (const each of given) await each().catch(() => undefined);
  await resetTo(time.client, { workflowId: flow.workflowId, runId }, task);
  await pass(MINUTE);
  await time.stopWorker();
  await time.startWorker();
  await pass(MINUTE);
  expect(await flow.status()).toMatchObject({
    status: 'paused',
    subscription: { disputedPayments: [bill?.payment_id] },
  });
  expect(await flow.explain()).not.toContain('task');
  await reach(8);
  expect(await tried()).toHaveLength(1);
  await flow.command('cancel', { when: 'now' });
});
