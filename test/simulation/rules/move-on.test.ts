import { expect, test } from 'vitest';
import { SIGNAL_NAMES } from '../../../src/contract/names.js';
import { declinedFor, inRome } from '../../support/subscriptions.js';
import type { Run } from '../engine/run.js';
import { isReplayed } from '../worker/driver.js';
import { answers, HOUR, MINUTE, sharedTime } from './context.js';
import { beginWeekly, type WeeklyArguments } from './weekly.js';

/** The build that gets new work. The engine is asked anew with each task, as a server with a ramp is. */
let target = (_run: Run): string => 'v1';
const time = sharedTime({ billing: true }, { targetBuild: (run) => target(run) });

async function weekly(...given: WeeklyArguments) {
  target = () => 'v1';
  const subscription = await beginWeekly(time, ...given);
  const { flow, input } = subscription;
  const runs = () => [...time.simulation.engine.all()].filter(({ start }) => start.workflowId === flow.workflowId);
  return {
    ...subscription,
    builds: () => runs().map(({ build }) => build),
    tell: async () => {
      await time.client.workflow.getHandle(flow.workflowId).signal(SIGNAL_NAMES.moveOn);
      await flow.worksOn();
    },
    dueAt: inRome(input.anchor),
    /** Whatever was decided is decided again by a worker that knows the histories alone. */
    replays: async () => {
      const worker = time.simulation.startWorker();
      for (const run of runs().filter((one) => !one.isOpen)) {
        const handle = time.client.workflow.getHandle(flow.workflowId, run.start.runId);
        await handle.query('status');
        expect(isReplayed(run)).toBe(true);
      }
      worker.kill();
    },
  };
}

test('a subscription that only waits moves when told, once for each time, and bills its periods once', async () => {
  const { flow, tell, builds, tried, replays, dueAt } = await weekly({ periods: 2 });
  target = () => 'v2';
  await time.passUntil(dueAt - HOUR);
  expect(builds()).toEqual(['v1']);
  await tell();
  await time.passUntil(dueAt - MINUTE);
  expect(builds()).toEqual(['v1', 'v2']);
  expect(await flow.status()).toMatchObject({ status: 'active', waitingFor: 'period', dueAt: iso(dueAt), ignored: {} });
  expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 2 });
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '2.1 day 7 Succeed 6000 EUR']);
  expect(builds()).toEqual(['v1', 'v2', 'v2', 'v2']);
  await replays();
});

test('one that is told at the very moment of its bill makes that bill once', async () => {
  const { tell, builds, tried, replays, dueAt, reach } = await weekly({ periods: 2 });
  target = () => 'v2';
  await time.passUntil(dueAt - MINUTE);
  await time.stopWorker();
  await tell();
  await time.passUnserved(dueAt + 5_000);
  await time.startWorker();
  await reach(1);
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
  expect(builds()).toEqual(['v1', 'v2', 'v2']);
  await replays();
});

test('one that is told while its payment is under way moves when that has ended', async () => {
  const { tell, builds, tried, complete, reach } = await weekly({ periods: 2 }, { '1.1': { status: 'Pending' } });
  await reach(0);
  target = () => 'v2';
  await tell();
  expect(builds()).toEqual(['v1']);
  await complete('1.1', { status: 'Succeed' });
  await time.passUntil((await time.now()) + HOUR);
  expect(builds()).toEqual(['v1', 'v2']);
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
});

test('one that is told while a command is executed answers that command first', async () => {
  const { flow, tell, builds, input } = await weekly({ periods: 2 });
  target = () => 'v2';
  const slow = { action: 'delay', delay_ms: 4_000, method: 'GET', path: '*/payment-methods/*' } as const;
  const { id } = await time.sandbox.addFault(slow);
  const change = flow.command('changeCard', { token: input.token });
  await tell();
  expect(await change).toMatchObject({ status: 'active' });
  await time.sandbox.removeFault(id);
  await flow.worksOn();
  expect(builds()).toEqual(['v1', 'v2']);
});

test('one that nobody tells moves before its bill leaves, and before each further try of it', async () => {
  const faults = { '1.1': declinedFor('insufficient_funds') };
  const { flow, builds, tried, replays, reach, dueAt } = await weekly({ periods: 1 }, faults);
  await time.passUntil(dueAt - HOUR);
  target = () => 'v2';
  await reach(0);
  expect(builds()).toEqual(['v1', 'v2']);
  target = () => 'v3';
  expect(await flow.ended()).toMatchObject({ billedPeriods: 1 });
  expect(builds()).toEqual(['v1', 'v2', 'v3', 'v3']);
  expect(await tried()).toEqual(['1.1 day 0 Failed 6000 EUR', '1.2 day 1 Succeed 6000 EUR']);
  await replays();
});

test('one that every task tells of another build, as in a ramp, moves once for a payment, which is made', async () => {
  const { flow, builds, tried, replays } = await weekly({ periods: 2 });
  target = (run) => {
    // More than a server does: the first task of a run is told too.
    run.isPinned = true;
    run.build ??= 'v1';
    return 'v2';
  };
  expect(await flow.ended()).toMatchObject({ billedPeriods: 2 });
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '2.1 day 7 Succeed 6000 EUR']);
  // A run moves for each payment, and one begins after each period.
  expect(builds()).toHaveLength(5);
  await replays();
});

test('a deploy while its calendar is slow to answer is decided about again in the same way', async () => {
  const { flow, builds, tried, replays, reach, dueAt } = await weekly({ periods: 1 });
  await time.passUntil(dueAt - HOUR);
  // A task without commands: a replay takes the heartbeats of the one behind it together.
  await time.client.workflow.getHandle(flow.workflowId).signal('nobodyKnowsThis');
  await flow.worksOn();
  await time.stopWorker();
  await time.passUnserved(dueAt + 10 * MINUTE);
  const calendar = time.hold('planBilling');
  await time.startWorker();
  await calendar.reached;
  target = () => 'v2';
  // Longer than the 8 s after which the workflow task is answered and asked for again.
  await time.passUntil((await time.now()) + 9_000);
  calendar.release();
  await reach(1);
  expect(builds().slice(0, 2)).toEqual(['v1', 'v2']);
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
  await replays();
});

test('one whose card can not be looked up yet moves when told, and before its next look', async () => {
  const { id } = await time.sandbox.addFault(answers(401, 'GET', '/customers/*'));
  const { tell, builds, reach, tried, flow } = await weekly({ periods: 1 });
  await flow.worksOn();
  target = () => 'v2';
  await tell();
  expect(builds()).toEqual(['v1', 'v2']);
  target = () => 'v3';
  await time.passUntil((await time.now()) + HOUR);
  expect(builds().slice(0, 3)).toEqual(['v1', 'v2', 'v3']);
  await time.sandbox.removeFault(id);
  await reach(1);
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
});

/** A daily subscription whose first bill has moved to a build that has no worker. */
async function movedForItsPayment() {
  const day = { interval: { every: 1, unit: 'day' }, periods: 2 } as const;
  const { flow, builds, tried, dueAt } = await weekly(day);
  await time.passUntil(dueAt - HOUR);
  target = () => 'v2';
  for (let at = dueAt; builds().length < 2; at += 1) await time.passUntil(at);
  await time.stopWorker();
  return { flow, tried, dueAt };
}

test('one that moves for its payment to a build whose workers come only in the next period charges no two at once', async () => {
  const { flow, tried, dueAt } = await movedForItsPayment();
  expect(await tried()).toEqual([]);
  await time.passUnserved(dueAt + 26 * HOUR);
  await time.startWorker();
  expect(await flow.ended()).toMatchObject({ billedPeriods: 1, unpaidPeriods: 1 });
  expect(await tried()).toEqual(['2.1 day 1 Succeed 6000 EUR']);
});

test('one whose bill a person asks for by then makes it', async () => {
  const { flow, tried, dueAt } = await movedForItsPayment();
  await time.passUnserved(dueAt + 26 * HOUR);
  const asked = flow.command('billNow', { period: 1 });
  await time.startWorker();
  expect(await asked).toMatchObject({ result: { status: 'succeeded' } });
  expect(await flow.ended()).toMatchObject({ billedPeriods: 2, unpaidPeriods: 0 });
  expect(await tried()).toEqual(['1.1 day 1 Succeed 6000 EUR', '2.1 day 1 Succeed 6000 EUR']);
});

const iso = (at: number): string => new Date(at).toISOString();
