import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  BILLING_TASK_QUEUE,
  paymentWorkflowId,
  SIGNAL_NAMES,
  subscriptionWorkflowId,
  WORKFLOW_TYPES,
} from '../../src/contract/names.js';
import type { SubscriptionInput } from '../../src/contract/subscription.js';
import { resetToEachTask } from '../support/resets.js';
import { dailyInput, subscriptionOn } from '../support/stack-subscriptions.js';
import type { TestStack } from '../support/stack.js';
import {
  anotherCard,
  declinedFor,
  inRome,
  later,
  localDay,
  monthly,
  plantOn,
  ROME,
  subscribe,
  subscriptionAt,
  type VirtualSubscription,
} from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { MINUTE, type VirtualTime } from '../support/virtual-time.js';
import type { LongScenario } from './long-scenarios.js';
import type { OneRun, Scenario } from './scenarios.js';

const NO_FUNDS = declinedFor('insufficient_funds');
const STOLEN = declinedFor('lost_stolen_card');
const PENDING = { status: 'Pending' } as const;
/** Leaves time for another try. */
const WEEKLY = { every: 1, unit: 'week' } as const;
const WHO = { who: 'ann@finance', why: 'seen on the settlement file' };

/**
 * Subscriptions over days of skipped time; the same rules as for `SCENARIOS`. One run is one history: those of a
 * period that another one follows end "continued as new".
 */
export const SUBSCRIPTION_SCENARIOS: Readonly<Record<string, LongScenario>> = {
  'subscription-billed-goes-on': (time) =>
    withMerchant(async (notify) => await run(time, 2, await ended(await begun(time, { notify, periods: 3 })))),
  'subscription-told-to-move-on': async (time) => {
    const { flow } = await begun(time);
    await flow.worksOn();
    await time.client.workflow.getHandle(flow.workflowId).signal(SIGNAL_NAMES.moveOn);
    return await run(time, 1, await ended({ flow }));
  },
  'subscription-completed': async (time) => await run(time, 3, await ended(await begun(time))),
  'subscription-started-raw-declined-then-billed': async (time) => {
    const input = await daily(time, { interval: WEEKLY });
    await plantOn(time, input.reference, '1.1', NO_FUNDS);
    return await run(time, 1, await ended(await raw(time, input)));
  },
  'subscription-started-raw-with-bad-input': async (time) => {
    const { workflowId } = await ended(await raw(time, { ...(await daily(time)), amount: -1, token: randomUUID() }));
    return workflowId;
  },
  'subscription-refused-card-not-there': async (time) => {
    const { workflowId } = await ended(await begun(time, { token: randomUUID() }));
    return workflowId;
  },
  'subscription-card-changed-when-past-due': async (time) => {
    const { flow, input } = await tried(time, STOLEN);
    await flow.command('changeCard', { token: await anotherCard(time, input.customerId) });
    return await run(time, 1, await ended({ flow }));
  },
  'subscription-given-up': async (time) => {
    const declined = await tried(time, STOLEN, { dunning: { onGivenUp: 'cancel' } });
    return await run(time, 1, await ended(declined));
  },
  'subscription-unpaid-goes-on': async (time) =>
    await run(time, 1, await ended(await tried(time, STOLEN, { dunning: { onGivenUp: 'continue' } }))),
  'subscription-paused-then-resumed': async (time) => {
    const { flow, input } = await begun(time, { periods: 5 });
    await time.passUntil(inRome(input.anchor, 12));
    await flow.command('pause');
    await time.passUntil(inRome(later(input.anchor, 2), 12));
    await flow.command('changePlan', { amount: 7_000, interval: { every: 2, unit: 'day' }, billAt: '16:00' });
    await flow.command('resume', { missedPeriods: 'billLatest' });
    await flow.worksOn();
    return await run(time, 2, await ended({ flow }));
  },
  'subscription-refunded-and-billed-now': async (time) => {
    const { flow, input } = await begun(time, { periods: 3 });
    await time.passUntil(inRome(input.anchor, 12));
    await flow.command('refundPeriod', { commandId: 'back', amount: 5_000 });
    await flow.command('billNow', { commandId: 'early', period: 2 });
    return await run(time, 2, await ended({ flow }));
  },
  'subscription-cancelled-by-command': async (time) => {
    const { flow } = await tried(time, NO_FUNDS, { interval: WEEKLY });
    await flow.command('cancel', { when: 'now' });
    return await run(time, 1, await ended({ flow }));
  },
  'subscription-cancelled-at-the-end-of-the-period': async (time) => {
    const { flow, input } = await begun(time, { periods: 3 });
    await time.passUntil(inRome(input.anchor, 12));
    await flow.command('cancel', { when: 'periodEnd' });
    return await run(time, 2, await ended({ flow }));
  },
};

/** Subscriptions that take seconds, on the real server; the same rules as for `SCENARIOS`. */
export const SHORT_SUBSCRIPTION_SCENARIOS: Readonly<Record<string, Scenario>> = {
  'subscription-cancelled-in-flight': async (stack) => {
    const flow = await underWay(stack);
    await flow.handle.cancel();
    const [pending] = await stack.sandbox.ledger(flow.payment);
    await stack.sandbox.complete(pending?.transaction_id ?? '', { status: 'Succeed' });
    await flow.ended();
    return flow.workflowId;
  },
  'subscription-settled-by-operator': async (stack) => {
    const { handle, workflowId, payment, reaches } = await underWay(stack);
    const { runId } = await handle.describe();
    await stack.temporal.workflow.getHandle(paymentWorkflowId(payment)).terminate('golden');
    await reaches(({ needsOperator }) => needsOperator);
    await stack.holdfast.settleManually({ workflowId }, { status: 'succeeded', ...WHO });
    return { workflowId, runId };
  },
  'subscription-reset-joins-its-payment': async (stack) => {
    const input = await romanInput(stack);
    await stack.holdfast.subscribe(input);
    const flow = subscriptionOn(stack, input);
    await flow.billed(1);
    let runId = '';
    const look = async (made: string): Promise<void> => void (runId = made);
    await resetToEachTask(stack, flow.workflowId, look, (task) => task === 0);
    return { workflowId: flow.workflowId, runId };
  },
};

/** One day in Rome, whatever zone other tests choose by the hour: it stands in the histories. */
async function romanInput(stack: TestStack): Promise<SubscriptionInput> {
  return await dailyInput(stack, 0, { periods: 1, timeZone: ROME, anchor: localDay(Date.now(), ROME) });
}

/** Its first payment is sent, and pends. */
async function underWay(stack: TestStack) {
  const input = await romanInput(stack);
  await plantOn(stack, input.reference, '1.1', PENDING);
  await stack.holdfast.subscribe(input);
  const flow = subscriptionOn(stack, input);
  await until(flow.charges, (made) => made.length === 1);
  return { ...flow, payment: `${input.reference}.1.1` };
}

interface Begun {
  flow: VirtualSubscription;
  input: SubscriptionInput;
}

async function daily(time: VirtualTime, overrides: Partial<SubscriptionInput> = {}): Promise<SubscriptionInput> {
  return await monthly(time, { interval: { every: 1, unit: 'day' }, periods: 2, ...overrides });
}

async function begun(time: VirtualTime, overrides: Partial<SubscriptionInput> = {}): Promise<Begun> {
  const input = await daily(time, overrides);
  return { flow: await subscribe(time, input), input };
}

/** Its first payment has ended, or pends, as `fault` says. */
async function tried(
  time: VirtualTime,
  fault: Parameters<typeof plantOn>[3],
  overrides: Partial<SubscriptionInput> = {},
): Promise<Begun> {
  const input = await daily(time, overrides);
  await plantOn(time, input.reference, '1.1', fault);
  const flow = await subscribe(time, input);
  await time.passUntil(inRome(input.anchor) + MINUTE);
  await until(
    () => flow.status(),
    ({ subscription }) => subscription?.open?.attempts === 1,
  );
  return { flow, input };
}

/** As other programs start it: without memo and search attributes. */
async function raw(time: VirtualTime, input: SubscriptionInput): Promise<Begun> {
  const workflowId = subscriptionWorkflowId(input.reference);
  const handle = await time.client.workflow.start(WORKFLOW_TYPES.subscription, {
    taskQueue: BILLING_TASK_QUEUE,
    workflowId,
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    args: [input],
  });
  return { flow: subscriptionAt(time, input.reference, handle), input };
}

async function ended({ flow }: Pick<Begun, 'flow'>): Promise<VirtualSubscription> {
  await flow.ended().catch(() => undefined);
  return flow;
}

/** The `count`th run, from 1. */
async function run(time: VirtualTime, count: number, { workflowId }: VirtualSubscription): Promise<OneRun> {
  const runs: string[] = [];
  let { runId } = await time.client.workflow.getHandle(workflowId).describe();
  while (runId !== '') {
    runs.unshift(runId);
    const { events } = await time.client.workflow.getHandle(workflowId, runId).fetchHistory();
    runId = events?.[0]?.workflowExecutionStartedEventAttributes?.continuedExecutionRunId ?? '';
  }
  const one = runs[count - 1];
  if (one === undefined) throw new Error(`${workflowId} has ${runs.length} runs, and not ${count}`);
  return { workflowId, runId: one };
}

/** With an address that takes every notification. */
async function withMerchant(act: (notify: { url: string }) => Promise<OneRun>): Promise<OneRun> {
  const server = createServer((_request, response) => void response.end());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  try {
    return await act({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook` });
  } finally {
    server.close();
  }
}
