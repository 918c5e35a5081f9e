import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DEFAULT_UNIT } from '../../../sandbox/business-units.js';
import { PATCHES } from '../../../src/contract/names.js';
import { CARDS } from '../../support/charges.js';
import { movements } from '../../support/payments.js';
import { endOf, resetTo, resetToFirstTask, tasksOf } from '../../support/resets.js';
import { tellingOf } from '../../support/telling.js';
import { begin, reviewedInput, SPECS } from '../../support/virtual-flows.js';
import { plant } from '../../time/checks.js';
import { type SimulatedTime, startSimulatedTime } from '../simulated-time.js';
import { patchOf } from '../worker/command-events.js';
import {
  answers,
  beginFlow,
  DAY,
  DONE,
  FLOW_TYPES,
  type FlowType,
  HOUR,
  inputOf,
  MINUTE,
  OPERATOR,
} from './context.js';
import { listenToAll, MERCHANT } from './told.js';

let time: SimulatedTime;
beforeEach(async () => {
  // What is told of an end is handed over in a task after it, to which a flow can be reset.
  const telling = tellingOf([{ url: `${MERCHANT}/all` }]);
  const unit = { ...DEFAULT_UNIT, riskUnit: 'default', outgoing: { perCall: { USD: 7_000 } } };
  const env = { HOLDFAST_BUSINESS_UNITS: JSON.stringify({ default: unit }) };
  time = await startSimulatedTime({}, { telling, worker: { env } });
  listenToAll(time);
});
afterEach(async () => {
  await time.close();
});

type Flow = Awaited<ReturnType<typeof beginFlow>>;
const start = async (type: FlowType, more: object = {}): Promise<Flow> =>
  await beginFlow(time, type, await inputOf(time, type, { ...more }));

async function declinedByRisk(specOf: typeof SPECS.charge | typeof SPECS.authorize): Promise<Flow> {
  const flow = await begin(time, specOf(await reviewedInput(time, { risk: { when: 'before' } })));
  await time.passUntil(flow.startedAt + MINUTE);
  await flow.ask('decideReview', { ...OPERATOR, decision: 'decline' });
  return flow;
}

/** Ends that nothing but the flow's own word shows: nothing was sent. */
const UNSENT: readonly [name: string, start: () => Promise<Flow>, otherEnds?: string[]][] = [
  ['charge that the risk provider has declined', () => declinedByRisk(SPECS.charge)],
  ['authorization that the risk provider has declined', () => declinedByRisk(SPECS.authorize)],
  [
    'charge whose review took longer than its CVV lasts',
    async () => {
      const { paymentMethod } = await time.input({ cvv: '737' });
      const input = await reviewedInput(time, { paymentMethod, risk: { when: 'before', reviewTimeLimit: '1 day' } });
      const flow = await begin(time, SPECS.charge(input));
      await time.passUntil(flow.startedAt + 3 * HOUR);
      await flow.ask('decideReview', { ...OPERATOR, decision: 'approve' });
      return flow;
    },
    // Nobody decides on the review again.
    ['declined'],
  ],
  [
    'charge whose payment could not be created',
    async () => {
      const input = await time.input();
      await plant(time, input, { ...answers(400, 'POST', '/payments') });
      return await beginFlow(time, 'charge', input);
    },
    ['Needs an operator'],
  ],
  [
    'authorization that a void has overtaken',
    async () => {
      const input = await time.input();
      await plant(time, input, { ...answers(503, 'POST', '/payments'), times: 8 });
      const flow = await begin(time, SPECS.authorize(input));
      await time.passUntil(flow.startedAt + 10_000);
      void (await flow.command('void', { commandId: 'early' })).answer.catch(() => undefined);
      return flow;
    },
  ],
  [
    'charge that was cancelled before it began',
    async () => {
      await time.stopWorker();
      const flow = await start('charge');
      await flow.cancel();
      await time.startWorker();
      return flow;
    },
    ['notExecuted'],
  ],
  ['credit above its limit', () => start('credit', { amount: 8_000 }), ['notExecuted']],
  [
    'card whose token never was',
    () => start('storeCard', { paymentMethod: { type: 'tokenized', token: '00000000-0000-4000-8000-000000000000' } }),
  ],
];

/** Ends that nobody is told of. */
const UNTOLD = ['card whose token never was', 'charge that was cancelled before it began'];

/** Whether a run has decided anew what a run before may have decided otherwise. */
async function decidedAnew(workflowId: string, runId: string): Promise<boolean> {
  const { events } = await time.client.workflow.getHandle(workflowId, runId).fetchHistory();
  return (events ?? []).some((event) => patchOf(event) === PATCHES.afterReset);
}

/** Resets the run to each of its tasks, and looks at what becomes of each run that this makes. */
async function resetEverywhere({ workflowId, reference }: Flow) {
  const end = await endOf(time.client, workflowId);
  await time.passUntil((await time.now()) + MINUTE);
  const moved = await movements(time, reference);
  const { runId } = await time.client.workflow.getHandle(workflowId).describe();
  const made: { end: string; isAnew: boolean; moved: string[] }[] = [];
  for (const task of await tasksOf(time.client, workflowId, runId)) {
    const newRun = await resetTo(time.client, { workflowId, runId }, task);
    await time.passUntil((await time.now()) + 2 * DAY);
    // A worker that has never seen the run replays it.
    await time.stopWorker();
    await time.startWorker();
    const handle = time.client.workflow.getHandle(workflowId, newRun);
    const explained = await handle.query<string>('explain');
    const { status } = await handle.describe();
    made.push({
      end: status.name === 'RUNNING' ? `open: ${explained}` : await endOf(time.client, workflowId, newRun),
      isAnew: await decidedAnew(workflowId, newRun),
      moved: await movements(time, reference),
    });
  }
  return { end, moved, made };
}

describe.each(UNSENT)('a %s, reset to each of its tasks in turn,', (name, begun, others = []) => {
  test('is never wedged and moves nothing, and looks where the run before may have sent something', async () => {
    const { end, moved, made } = await resetEverywhere(await begun());
    expect(moved).toEqual([]);
    for (const { end: next, moved: then } of made) {
      expect([end, ...others]).toContainEqual(next.replace(/^open: .*(Needs an operator).*$/su, '$1'));
      expect(then).toEqual([]);
    }
    expect(made.some(({ isAnew }) => isAnew)).toBe(true);
    // The last task told of the end: what the copied history has decided is not decided again.
    if (!UNTOLD.includes(name)) expect(made.at(-1)).toMatchObject({ end, isAnew: false });
  });
});

describe.each(FLOW_TYPES)('a %s that has done all it was asked for', (type) => {
  test('ends the same after a reset to each of its tasks, and moves nothing more', async () => {
    const flow = await start(type);
    const { end, moved, made } = await resetEverywhere(flow);
    expect(moved).toEqual(DONE[type]);
    for (const one of made) expect(one).toEqual({ end, moved, isAnew: false });
  });
});

test('a card whose token never was has the same code after a reset', async () => {
  const paymentMethod = { type: 'tokenized', token: '00000000-0000-4000-8000-000000000000' };
  const { workflowId } = await start('storeCard', { paymentMethod });
  const handle = time.client.workflow.getHandle(workflowId);
  expect(await handle.result()).toMatchObject({ status: 'notExecuted', code: 'tokenExpired' });
  await resetToFirstTask(time.client, workflowId);
  expect(await handle.result()).toMatchObject({ status: 'notExecuted', code: 'tokenExpired' });
});

test('a card whose customer lacks an e-mail is not charged by a run that a reset makes either', async () => {
  const customer = { customerReference: 'customer-without-mail' };
  await (await start('storeCard', { customer })).outcome();
  const withEmail = { ...customer, email: 'ada@shop.example' };
  const { end, made } = await resetEverywhere(await start('storeCard', { customer: withEmail, networkTokens: true }));
  expect(end).toBe('InvalidInput');
  for (const one of made) expect(one).toEqual({ end: 'notExecuted', moved: [], isAnew: true });
});

test('a charge that was declined stays declined after a reset to each of its tasks', async () => {
  const { end, moved, made } = await resetEverywhere(await start('charge', { card: CARDS.declines }));
  expect(end).toBe('declined');
  for (const one of made) expect(one).toEqual({ end, moved, isAnew: false });
});
