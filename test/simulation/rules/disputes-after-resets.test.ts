import { expect, test } from 'vitest';
import { firstRunOf, resetTo, resetToFirstTask, tasksOf } from '../../support/resets.js';
import { answers, HOUR, MINUTE, sharedTime } from './context.js';
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

const SIGNALS = 1;

test.each(['at once', 'once it can be read'])(
  'a reset that leaves signals out forgets no dispute: the service tells of it %s, before anything else is billed',
  async (when) => {
    const { flow, reach, tried } = await beginWeekly(time, { periods: 6 });
    await reach(8);
    const [bill] = await time.sandbox.ledger(`${flow.reference}.1.1`);
    await time.sandbox.dispute(bill?.transaction_id ?? '');
    await pass(HOUR);
    expect(await flow.status()).toMatchObject({ status: 'paused' });
    const payment = answers(503, 'GET', `/payments/${bill?.payment_id}`);
    const away = when === 'at once' ? undefined : await time.sandbox.addFault({ ...payment, times: 1_000 });
    await resetToFirstTask(time.client, flow.workflowId, [SIGNALS], await firstRunOf(time.client, flow.workflowId));
    await pass(HOUR);
    expect(await flow.status()).toMatchObject({ status: 'active', subscription: { billedPeriods: 2 } });
    await reach(15);
    if (away !== undefined) {
      expect(await tried()).toHaveLength(3);
      await time.sandbox.removeFault(away.id);
      await reach(22);
    }
    expect(await flow.status()).toMatchObject({
      status: 'paused',
      subscription: { disputedPayments: [bill?.payment_id] },
    });
    expect(await tried()).toHaveLength(away === undefined ? 2 : 3);
    // A person who resumes it is not stopped again.
    await flow.command('resume', { missedPeriods: 'billAll' });
    await pass(HOUR);
    expect(await tried()).toHaveLength(away === undefined ? 3 : 4);
    await flow.command('cancel', { when: 'now' });
  },
);
