import { expect, test } from 'vitest';
import { billableActions } from '../../../tools/bench/support/billable-actions.js';
import { paymentActionsWorkflowId } from '../../../src/contract/names.js';
import { CARDS } from '../../support/charges.js';
import { authorizeInput } from '../../support/payments.js';
import { until } from '../../support/until.js';
import { begin, beginHeld, SPECS } from '../../support/virtual-flows.js';
import { DAY, HOUR, MINUTE, scheduledOf, SECOND, sharedTime, startRaw } from './context.js';
import { beginWeekly } from './weekly.js';

const time = sharedTime({ billing: true });

/** Events of each run of a flow, oldest run first. */
function runsOf(workflowId: string) {
  return [...time.simulation.engine.all()]
    .filter(({ start }) => start.workflowId === workflowId)
    .map(({ events }) => events);
}

const kinds = (events: readonly object[], part: string): number =>
  events.filter((event) => Object.keys(event).some((key) => key.startsWith(part))).length;

test('a period that is billed in time costs 39 events and 9 billable actions, its payment included', async () => {
  const { flow, tried } = await beginWeekly(time, { periods: 3 });
  expect(await flow.ended()).toMatchObject({ billedPeriods: 3 });
  expect(await tried()).toHaveLength(3);
  const [, second = []] = runsOf(`subscription-${flow.reference}`);
  const [payment = []] = runsOf(`payment-${flow.reference}.2.1`);
  expect(second.length + payment.length).toBe(39);
  // The engine bills the start of a child to its parent as well.
  expect(billableActions(second) + billableActions(payment)).toBe(9);
});

test('an authorization that waits for its capture costs at most 20 events from the client, and 30 from a raw start', async () => {
  const byClient = await beginHeld(time);
  expect(runsOf(byClient.workflowId)[0]?.length).toBeLessThanOrEqual(20);
  const input = await authorizeInput(time);
  const { workflowId } = await startRaw(time, 'authorizeAndCapture', input);
  await until(
    () => time.holdfast.status({ workflowId }),
    ({ status }) => status === 'authorized',
  );
  const [raw = []] = runsOf(workflowId);
  expect(raw.length).toBeLessThanOrEqual(30);
  expect(kinds(raw, 'timerStarted')).toBeLessThanOrEqual(2);
});

const CALLS_OF_A_REFUND = ['getPaymentAndTransactions', 'createRefund'];

test('the first command to an ended payment costs at most 29 events, and each later one looks for the creating flow again', async () => {
  const input = await authorizeInput(time, CARDS.succeeds, { amount: 20_000 });
  const { paymentId = '' } = await (await begin(time, SPECS.charge(input))).outcome();
  const refund = async (commandId: string) =>
    await time.holdfast.refund({ payment: input.reference, commandId, amount: 6_000 });
  expect(await refund('first')).toMatchObject({ status: 'succeeded' });
  const workflowId = paymentActionsWorkflowId(paymentId);
  expect(await scheduledOf(time, workflowId)).toEqual(['findActionsBefore', ...CALLS_OF_A_REFUND]);
  expect(runsOf(workflowId)[0]?.length).toBeLessThanOrEqual(29);
  expect(await refund('second')).toMatchObject({ status: 'succeeded' });
  expect((await scheduledOf(time, workflowId)).slice(3)).toEqual(['findCreator', ...CALLS_OF_A_REFUND]);
});

test('what the next run waits for is shown from its start on', async () => {
  const { flow, reach } = await beginWeekly(time, { periods: 3 });
  await reach(0);
  const runs = runsOf(`subscription-${flow.reference}`);
  expect(kinds(runs.at(-1) ?? [], 'upsertWorkflowSearchAttributes')).toBe(0);
  const { typedSearchAttributes } = await time.client.workflow.getHandle(`subscription-${flow.reference}`).describe();
  const shown = Object.fromEntries(typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]));
  expect(shown).toMatchObject({ PaymentStatus: 'active', WaitingFor: 'period', Currency: 'EUR', AmountMinor: 6000 });
  const { dueAt = '' } = await flow.status();
  expect(shown['DueAt']).toEqual(new Date(dueAt));
  expect(shown['NeedsOperator'] ?? false).toBe(false);
});

test.each([
  ['cancel at the end of the period', 'cancel', { when: 'periodEnd' }, 1],
  ['cancel at once', 'cancel', { when: 'now' }, 1],
  ['pause', 'pause', {}, 1],
] as const)(
  'a command that came before the bill is due takes effect when it is: %s',
  async (_what, name, request, billed) => {
    const { flow, reach, tried } = await beginWeekly(time, { periods: 3 });
    await reach(6);
    await flow.command(name, request);
    await reach(9);
    expect(await tried()).toHaveLength(billed);
  },
);

test('a cancel that comes in the same task as the time of the bill goes first', async () => {
  const { flow, reach, tried } = await beginWeekly(time, { periods: 3 });
  await reach(0);
  const due = Date.parse((await flow.status()).dueAt ?? '');
  await time.passUntil(due - 10 * SECOND);
  await time.stopWorker();
  const cancelled = flow.command('cancel', { when: 'now' });
  await time.passUnserved(due + 5 * SECOND);
  await time.startWorker();
  await cancelled;
  expect(await flow.ended()).toMatchObject({ status: 'cancelled', billedPeriods: 1 });
  expect(await tried()).toHaveLength(1);
});

test('a bill whose time has passed while no worker ran is asked for again, as other periods may be due', async () => {
  const { flow, input, reach, tried } = await beginWeekly(time, { periods: 4, missedPeriods: 'billLatest' });
  await reach(0);
  await time.stopWorker();
  await time.passUnserved(Date.parse(`${input.anchor}T12:00:00Z`) + 15 * DAY);
  await time.startWorker();
  await time.passUntil((await time.now()) + HOUR);
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR', '3.1 day 15 Succeed 6000 EUR']);
  expect(await flow.status()).toMatchObject({ subscription: { missedPeriods: 1 } });
});

test('a first attempt at a bill whose reply is lost is found by a read, and made once', async () => {
  const { flow, reach, tried } = await beginWeekly(time, { periods: 1 });
  await time.sandbox.addFault({ action: 'drop_reply', method: 'POST', path: '*/charges', times: 2 });
  await reach(0);
  await time.passUntil((await time.now()) + 5 * MINUTE);
  expect(await flow.ended()).toMatchObject({ status: 'completed', billedPeriods: 1 });
  expect(await tried()).toEqual(['1.1 day 0 Succeed 6000 EUR']);
});
