import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { cardWorkflowId, paymentWorkflowId } from '../../src/contract/names.js';
import type { Stored } from '../../src/contract/cards.js';
import type { SubscriptionInput } from '../../src/contract/subscription.js';
import type { Explanation } from '../../src/cli/explain.js';
import type { FlowRow } from '../../src/cli/flow-row.js';
import type { FlowDetails } from '../../src/cli/show.js';
import { storedCard } from '../support/cards.js';
import { startStack, type TestStack } from '../support/stack.js';
import { dailyInput, subscriptionOn } from '../support/stack-subscriptions.js';
import { declinedFor, plantOn } from '../support/subscriptions.js';
import { until } from '../support/until.js';
import { environmentOf, holdfast } from './command.js';

let stack: TestStack;
let env: NodeJS.ProcessEnv;
/** Monthly; its first bill was declined, and is tried again in three days. */
let input: SubscriptionInput;
let card: Stored;
beforeAll(async () => {
  stack = await startStack({ real: true, billing: true, webhook: false });
  env = await environmentOf(stack.namespace);
  const dunning = { retryDays: [3, 5, 7], maxAttempts: 4 };
  input = await dailyInput(stack, 0, { interval: { every: 1, unit: 'month' }, dunning });
  await plantOn(stack, input.reference, '1.1', declinedFor('insufficient_funds'));
  await stack.holdfast.subscribe(input);
  await subscriptionOn(stack, input).reaches(({ status }) => status === 'pastDue');
  card = await storedCard(stack);
});
afterAll(async () => {
  await stack?.close();
});

async function printed<Answer>(...args: string[]): Promise<Answer> {
  const { code, out, err } = await holdfast(env, [...args, '--json']);
  if (code !== 0) throw new Error(err);
  return JSON.parse(out) as Answer;
}

/** Visibility may be a moment behind. */
async function listed(workflowId: string): Promise<FlowRow | undefined> {
  const rows = await until(
    () => printed<FlowRow[]>('list'),
    (found) => found.some((row) => row.workflowId === workflowId),
  );
  return rows.find((row) => row.workflowId === workflowId);
}

describe('a subscription that is past due', () => {
  test('is listed by its own reference, with what it waits for and until when', async () => {
    const rows = await until(
      () => printed<FlowRow[]>('list', '--status', 'pastDue'),
      (found) => found.some(({ waitingFor }) => waitingFor === 'retry'),
    );
    expect(rows).toEqual([
      expect.objectContaining({
        reference: input.reference,
        workflowId: `subscription-${input.reference}`,
        type: 'subscription',
        status: 'pastDue',
        waitingFor: 'retry',
        since: expect.stringMatching(/Z$/),
        execution: 'running',
        needsOperator: false,
        overdue: false,
        amount: 6_000,
        currency: 'EUR',
        businessUnit: 'default',
      }),
    ]);
    // It goes on by itself: nobody has to be called.
    expect(Date.parse(rows[0]?.dueAt ?? '')).toBeGreaterThan(Date.now() + 48 * 3_600_000);
    expect(await printed<FlowRow[]>('list', '--stuck')).toEqual([]);
  });

  test.each(['reference', 'workflow id'])('explains itself to whoever knows its %s', async (what) => {
    const { reference } = input;
    const name = what === 'reference' ? reference : `subscription-${reference}`;
    const { explanation, answeredByFlow } = await printed<Explanation>('explain', name);
    expect(answeredByFlow).toBe(true);
    const at = String.raw`\d+ \w+ \d{4} at \d\d:\d\d Etc/GMT([+-]\d+)?`;
    expect(explanation).toEqual([
      expect.stringMatching(
        new RegExp(
          `^Subscription of 60.00 EUR, ${reference}: period 1, 60.00 EUR: past due since ${at}; ` +
            `next try ${at} with card \\*{4} 1111; attempt 2 of 4\\.$`,
        ),
      ),
    ]);
  });

  test('shows its bills, its card, and the payments it has started', async () => {
    const { reference } = input;
    const flow = await printed<FlowDetails>('show', reference);
    expect(flow).toMatchObject({ status: 'pastDue', subscription: { billedPeriods: 0, open: { declines: 1 } } });
    expect(flow.history.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'start subscription',
      'call openSubscription',
      'call planBilling',
      `flow payment-${reference}.1.1`,
      `flow payment-${reference}.1.1`,
      'call judgeAttempt',
    ]);
    const { out } = await holdfast(env, ['show', reference]);
    expect(out).toMatch(/^ {2}card +\*{4} 1111$/m);
    expect(out).toMatch(/^ {2}open bill +period 1, 60\.00 EUR, 1 of 4 declines, next try at .* UTC$/m);
    expect(out).toMatch(/^ {2}periods +0 billed, 0 unpaid, 0 missed$/m);
    expect(out).toMatch(
      /flow +payment-\S+\.1\.1 +ended: status declined, category payment_method_declined, subCategory/,
    );
    expect(out).not.toContain(input.token);
  });

  test('has a title in Temporal UI, and so has each payment it has started', async () => {
    const { reference } = input;
    const flows = [`subscription-${reference}`, paymentWorkflowId(`${reference}.1.1`)];
    const titles = flows.map(async (id) => (await stack.temporal.workflow.getHandle(id).describe()).staticSummary());
    expect(await Promise.all(titles)).toEqual([
      `Subscription 60.00 EUR, ${reference}`,
      `Bill ${reference}, ${reference}.1.1`,
    ]);
  });

  test('that was terminated is stuck: nobody bills it any more', async () => {
    const other = await dailyInput(stack, 2);
    await stack.holdfast.subscribe(other);
    const flow = subscriptionOn(stack, other);
    await flow.reaches(({ status }) => status === 'active');
    await flow.handle.terminate('wrong button');
    const { explanation } = await printed<Explanation>('explain', flow.workflowId);
    expect(explanation[0]).toMatch(
      /^This subscription was stopped from outside at .*: wrong button\), so nobody bills it/,
    );
    expect(explanation[1]).toMatch(
      /^The last it knew: Subscription of 60\.00 EUR, .*: 0 periods billed; period 1 is billed on/,
    );
    expect(
      await until(
        () => printed<FlowRow[]>('list', '--stuck'),
        (rows) => rows.length > 0,
      ),
    ).toMatchObject([{ workflowId: flow.workflowId, execution: 'terminated' }]);
  });
});

describe('flows about stored cards', () => {
  test('that put one on file are found by their reference', async () => {
    const workflowId = paymentWorkflowId(card.reference);
    expect(await listed(workflowId)).toMatchObject({ type: 'storeCard', reference: card.reference, status: 'stored' });
    const { out } = await holdfast(env, ['explain', card.reference]);
    expect(out).toMatch(/^This flow has ended \(completed, .* UTC\)\.\nStoring a card, .*: the card is on file/);
  });

  test('that removed one are found by customer and command', async () => {
    const { customerId, token } = card;
    await stack.holdfast.removeCard({ customerId, token, commandId: 'remove-1' });
    const workflowId = cardWorkflowId(customerId, 'remove-1');
    const reference = `${customerId}-remove-1`;
    expect(await listed(workflowId)).toMatchObject({ type: 'removeCard', reference, execution: 'completed' });
    expect(await printed<FlowDetails>('show', reference)).toMatchObject({
      workflowId,
      outcome: { status: 'removed' },
      history: [{ name: 'removeCard' }, { name: 'deletePaymentMethod' }, { name: 'completed' }],
    });
    const { code, out } = await holdfast(env, ['explain', reference]);
    expect({ code, out }).toEqual({ code: 0, out: expect.stringContaining('This flow has ended (completed,') });
  });
});
