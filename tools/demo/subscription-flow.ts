import type { FlowStatus } from '../../src/contract/messages.js';
import { attemptReference, subscriptionWorkflowId } from '../../src/contract/names.js';
import type { SubscriptionEnded } from '../../src/contract/subscription-commands.js';
import { showMoney } from '../../src/domain/money.js';
import { CONSENTED, storeCard } from './card-flows.js';
import { ProblemError, type DemoFlow, CURRENCY, WAIT, type DemoStep } from './demo-step.js';
import { openMerchant, type Merchant } from './merchant.js';
import type { EmbeddedWorld } from './embedded/world.js';

/** Minor units. */
const PRICE = 1_999;
/** The server (1.32.0) counts skipped time wrong in a chain of more than three runs. */
const PERIODS = 3;
const TOLD = ['billed', 'declined', 'billed', 'billed', 'ended'];
const DAY_MS = 86_400_000;
const ZONE = 'Europe/Rome';

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', timeZone: ZONE });
const movement = (kind: string, amount: number) => ({ kind, amount, currency: CURRENCY });
const CHARGES = Array.from({ length: PERIODS }, () => movement('charge', PRICE));

export const subscription: DemoFlow = {
  name: 'subscription',
  title: 'A subscription over three months, the second of which is declined at first',
  where: 'embedded',
  expected: {
    status: 'cancelled',
    knownBy: [],
    moved: [movement('authorization', CONSENTED), movement('void', CONSENTED), ...CHARGES],
  },
  async run(step) {
    const { world } = step;
    if (world === undefined) throw new ProblemError('it has no world whose time could be jumped');
    step.workflowId = subscriptionWorkflowId(step.reference);
    const merchant = await openMerchant(world.notifySecret);
    try {
      await begin(step, world, merchant);
      await bill(step, world, 1);
      await declineAndRecover(step, world);
      await bill(step, world, 3);
      // To complete it, the last month would have to be skipped too.
      await step.holdfast.subscription.cancel(step.reference, { when: 'now', why: 'asked by the buyer' });
      step.step('the buyer cancels');
      const ended = (await step.resultOf(step.workflowId)) as SubscriptionEnded;
      await step.until(async () => merchant.notifications.length >= TOLD.length);
      step.step(saidTo(merchant));
      return ended;
    } finally {
      merchant.close();
    }
  },
};

async function begin(step: DemoStep, world: EmbeddedWorld, merchant: Merchant): Promise<void> {
  const { reference } = step;
  const { customerId, token, consentTransactionId } = await storeCard(step, step.laterReference());
  const subscribed = await step.holdfast.subscribe(
    {
      reference,
      customerId,
      token,
      ...(consentTransactionId !== undefined && { consentTransactionId }),
      amount: PRICE,
      currency: CURRENCY,
      interval: { every: 1, unit: 'month' },
      anchor: new Date((await world.now()) + 2 * DAY_MS).toISOString().slice(0, 10),
      timeZone: ZONE,
      periods: PERIODS,
      dunning: { retryDays: [3, 5, 7], maxAttempts: 4 },
      jitter: '0 seconds',
      notify: { url: merchant.url },
      businessUnit: world.businessUnit,
    },
    WAIT,
  );
  if (subscribed.status !== 'active') throw new ProblemError(`it is ${subscribed.status}, not active`);
  step.step(
    `the buyer's card is on file, and ${showMoney(PRICE, CURRENCY)} are to be billed monthly at 10:00 in ${ZONE}; time is jumped`,
  );
}

/** Skips to the next bill and waits until it is paid. */
async function bill(step: DemoStep, world: EmbeddedWorld, period: number): Promise<void> {
  await jump(step, world);
  let billed = 0;
  await step.until(async () => {
    billed = (await statusOf(step))?.subscription?.billedPeriods ?? billed;
    return billed >= period;
  });
  if (billed > period) throw new ProblemError(`the server jumped past period ${period}, and has billed ${billed}`);
  step.step(`period ${period} is billed: ${DAY.format(await world.now())}, a payment and a run of its own`);
}

async function declineAndRecover(step: DemoStep, world: EmbeddedWorld): Promise<void> {
  await world.sandbox.addFault({
    action: 'result',
    status: 'Failed',
    category: 'payment_method_declined',
    sub_category: 'insufficient_funds',
    method: 'POST',
    path: '*/charges',
    reconciliation_id: attemptReference(step.reference, 2, 1),
  });
  await jump(step, world);
  await step.until(async () => (await statusOf(step))?.status === 'pastDue');
  const { workflowId } = step;
  step.step(`period 2 is declined. Asked to explain itself: ${await step.holdfast.explain({ workflowId })}`);
  await bill(step, world, 2);
}

/** Skips to the time when the next bill is due. */
async function jump(step: DemoStep, world: EmbeddedWorld): Promise<void> {
  let dueAt: string | undefined;
  await step.until(async () => {
    const status = await statusOf(step);
    if (status?.waitingFor === 'period' || status?.waitingFor === 'retry') ({ dueAt } = status);
    return dueAt !== undefined;
  });
  await world.jumpTo(step.workflowId, Date.parse(dueAt ?? ''));
}

/** undefined between two runs, when the workflow can't be queried. */
async function statusOf({ holdfast, workflowId }: DemoStep): Promise<FlowStatus | undefined> {
  return await holdfast.status({ workflowId }).catch(() => undefined);
}

function saidTo({ notifications, refused }: Merchant): string {
  const types = notifications.map(({ type }) => type.replace('subscription.', ''));
  if (refused > 0) throw new ProblemError(`${refused} of its notifications were not signed as they should be`);
  if (types.join() !== TOLD.join()) {
    throw new ProblemError(`the merchant was told ${types.join(', ') || 'nothing'}, not ${TOLD.join(', ')}`);
  }
  return `the merchant's address was told, each signature verified: ${types.join(', ')}`;
}
