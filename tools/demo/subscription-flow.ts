import type { FlowStatus } from '../../src/contract/messages.js';
import { attemptReference, subscriptionWorkflowId } from '../../src/contract/names.js';
import type { SubscriptionEnded } from '../../src/contract/subscription-outcome.js';
import { showMoney } from '../../src/domain/show-money.js';
import { CONSENTED, storeCard } from './card-flows.js';
import { ProblemError, type DemoFlow } from './demo-flow.js';
import { openMerchant, type Merchant } from './merchant.js';
import { CURRENCY, WAIT, type Scene } from './scene.js';
import type { ThrowawayWorld } from './throwaway/world.js';

/** Minor units. */
const PRICE = 1_999;
/** The server (1.32.0) counts skipped time wrong in a chain of more than three runs. */
const PERIODS = 3;
/** Period and attempt of each payment. The first attempt of period 2 is declined. */
const ATTEMPTS = [
  [1, 1],
  [2, 1],
  [2, 2],
  [3, 1],
] as const;
const DAY_MS = 86_400_000;
const ZONE = 'Europe/Rome';

const DAY = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', timeZone: ZONE });
const movement = (kind: string, amount: number) => ({ kind, amount, currency: CURRENCY });
const CHARGES = Array.from({ length: PERIODS }, () => movement('charge', PRICE));

export const subscription: DemoFlow = {
  name: 'subscription',
  title: 'A subscription over three months, the second of which is declined at first',
  where: 'throwaway',
  expected: {
    status: 'cancelled',
    knownBy: [],
    moved: [movement('authorization', CONSENTED), movement('void', CONSENTED), ...CHARGES],
  },
  async run(scene) {
    const { world } = scene;
    if (world === undefined) throw new ProblemError('it has no world whose time could be jumped');
    scene.workflowId = subscriptionWorkflowId(scene.reference);
    const merchant = await openMerchant(world.notifySecret);
    try {
      await begin(scene, world, merchant);
      await bill(scene, world, 1);
      await declineAndRecover(scene, world);
      await bill(scene, world, 3);
      // To complete it, the last month would have to be skipped too.
      await scene.holdfast.subscription.cancel(scene.reference, { when: 'now', why: 'asked by the buyer' });
      scene.step('the buyer cancels');
      const ended = (await scene.resultOf(scene.workflowId)) as SubscriptionEnded;
      scene.step(saidTo(merchant));
      return ended;
    } finally {
      merchant.close();
    }
  },
};

async function begin(scene: Scene, world: ThrowawayWorld, merchant: Merchant): Promise<void> {
  const { reference } = scene;
  const { customerId, token, consentTransactionId } = await storeCard(scene, scene.laterReference());
  for (const [period, attempt] of ATTEMPTS) scene.follow(attemptReference(reference, period, attempt));
  const subscribed = await scene.holdfast.subscribe(
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
  scene.step(
    `the buyer's card is on file, and ${showMoney(PRICE, CURRENCY)} are to be billed monthly at 10:00 in ${ZONE}; time is jumped`,
  );
}

/** Skips to the next bill and waits until it is paid. */
async function bill(scene: Scene, world: ThrowawayWorld, period: number): Promise<void> {
  await jump(scene, world);
  let billed = 0;
  await scene.until(async () => {
    billed = (await statusOf(scene))?.subscription?.billedPeriods ?? billed;
    return billed >= period;
  });
  if (billed > period) throw new ProblemError(`the server jumped past period ${period}, and has billed ${billed}`);
  scene.step(`period ${period} is billed: ${DAY.format(await world.now())}, a payment and a run of its own`);
}

async function declineAndRecover(scene: Scene, world: ThrowawayWorld): Promise<void> {
  await world.sandbox.addFault({
    action: 'result',
    status: 'Failed',
    category: 'payment_method_declined',
    sub_category: 'insufficient_funds',
    method: 'POST',
    path: '*/charges',
    reconciliation_id: attemptReference(scene.reference, 2, 1),
  });
  await jump(scene, world);
  await scene.until(async () => (await statusOf(scene))?.status === 'pastDue');
  const { workflowId } = scene;
  scene.step(`period 2 is declined. Asked to explain itself: ${await scene.holdfast.explain({ workflowId })}`);
  await bill(scene, world, 2);
}

/** Skips to the time when the next bill is due. */
async function jump(scene: Scene, world: ThrowawayWorld): Promise<void> {
  let dueAt: string | undefined;
  await scene.until(async () => {
    const status = await statusOf(scene);
    if (status?.waitingFor === 'period' || status?.waitingFor === 'retry') ({ dueAt } = status);
    return dueAt !== undefined;
  });
  await world.jumpTo(scene.workflowId, Date.parse(dueAt ?? ''));
}

/** undefined between two runs, when the workflow can't be queried. */
async function statusOf({ holdfast, workflowId }: Scene): Promise<FlowStatus | undefined> {
  return await holdfast.status({ workflowId }).catch(() => undefined);
}

function saidTo({ told, refused }: Merchant): string {
  const types = told.map(({ type }) => type.replace('subscription.', ''));
  const expected = ['billed', 'declined', 'billed', 'billed', 'ended'];
  if (refused > 0) throw new ProblemError(`${refused} of its notifications were not signed as they should be`);
  if (types.join() !== expected.join()) {
    throw new ProblemError(`the merchant was told ${types.join(', ') || 'nothing'}, not ${expected.join(', ')}`);
  }
  return `the merchant's address was told, each signature verified: ${types.join(', ')}`;
}
