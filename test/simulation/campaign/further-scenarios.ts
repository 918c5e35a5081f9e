import { setTimeout as sleep } from 'node:timers/promises';
import type { Told } from '../../../tools/chaos/mixed/account.js';
import { storedCard } from '../../../tools/chaos/mixed/card-scenarios.js';
import { askPatiently } from '../../../tools/chaos/mixed/patience.js';
import { CARDS, goodCard, RISK_EMAILS } from '../../../tools/chaos/mixed/scenario.js';
import { HoldfastError } from '../../../src/client/index.js';
import type { FinalChargeOutcome } from '../../../src/contract/charge.js';
import { PAYMENTS_TASK_QUEUE, paymentWorkflowId, WORKFLOW_TYPES } from '../../../src/contract/names.js';
import { ask, chargeInput, patience, persist, resultOf } from './calls.js';
import type { CampaignScenario } from './scenario.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** What the storms on real processes do not play: other ways to start, to ask and to end. */
export const FURTHER_SCENARIOS: readonly CampaignScenario[] = [
  {
    name: 'charge that sends the buyer away',
    play: async (desk, pick) => {
      const merchantSiteUrl = 'https://shop.example.com/back';
      const card = pick([CARDS.pendsThenSucceeds, CARDS.pendsThenFails]);
      if (pick([true, false])) await desk.charge(card, { merchantSiteUrl, redirectTimeLimit: '30 minutes' });
      else await desk.authorize(card, { merchantSiteUrl, captureMode: 'auto' });
    },
  },
  {
    name: 'charge with a CVV',
    play: async (desk, pick, scene) => {
      const input = await chargeInput(desk, scene, goodCard(pick), true);
      await ask(desk, scene, 'charge', (waitFor) => scene.parts.holdfast.charge(input, { waitFor }));
    },
  },
  {
    name: 'charge asked again, alike and otherwise',
    play: async (desk, pick, scene) => {
      const input = await chargeInput(desk, scene, goodCard(pick));
      const { holdfast } = scene.parts;
      const call = (): Promise<Told> => ask(desk, scene, 'charge', (waitFor) => holdfast.charge(input, { waitFor }));
      const [one, other] = await Promise.all([call(), sleep(scene.random.int(0, 3_000)).then(call)]);
      const ids = [one, other].map(({ answer }) => `${answer?.status} ${answer?.transactionId}`);
      desk.expect(ids[0] === ids[1], `the same charge was told as ${ids.join(' and as ')}`);
      const refusal = await askPatiently(
        patience(scene),
        () => holdfast.charge({ ...input, amount: input.amount + 10 }),
        () => 'enough',
      );
      desk.expect(refusal?.type === 'ReferenceConflict', `another charge of that reference: ${refusal?.type}`);
    },
  },
  {
    name: 'charge started by a plain client',
    play: async (desk, pick, scene) => {
      const input = await chargeInput(desk, scene, pick(Object.values(CARDS)));
      const handle = await persist(scene, () =>
        scene.simulation.newClient().workflow.start(WORKFLOW_TYPES.charge, {
          taskQueue: PAYMENTS_TASK_QUEUE,
          workflowId: paymentWorkflowId(input.reference),
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          args: [input],
        }),
      );
      if (handle === undefined) throw new Error('a plain client could not start its charge');
      await ask(desk, scene, 'charge', (waitFor) => scene.parts.holdfast.charge(input, { waitFor }));
    },
  },
  {
    name: 'flow that is cancelled',
    play: async (desk, pick, scene) => {
      const { client } = scene.simulation;
      const begun = desk
        .authorize(pick(Object.values(CARDS)), { captureDeadline: '2 days' })
        .catch((error: unknown) => error);
      await sleep(scene.random.pick([0, 200, 2_000, MINUTE_MS]));
      await persist(scene, () => client.workflow.getHandle(paymentWorkflowId(desk.account.reference)).cancel());
      const answer = await begun;
      if (!(answer instanceof Error)) return;
      if (!(answer instanceof HoldfastError)) throw answer;
      // It ended before it had moved anything: the books say so, or not.
      desk.account.terminated = true;
    },
  },
  {
    name: 'void that comes early',
    play: async (desk, pick, scene) => {
      const begun = desk
        .authorize(pick(Object.values(CARDS)), { captureDeadline: '2 days', captureMode: pick(['auto', 'manual']) })
        .catch((error: unknown) => error);
      await sleep(scene.random.pick([100, 1_000, 5_000]));
      await desk.command('void', { commandId: 'v1' }, { expected: 'any' });
      const answer = await begun;
      if (answer instanceof Error) throw answer;
    },
  },
  {
    name: 'charge or credit that is voided while it is pending',
    play: async (desk, pick, scene) => {
      const card = pick([CARDS.pendsThenSucceeds, CARDS.pendsThenFails]);
      const begun = (pick([true, false]) ? desk.charge(card) : desk.credit(card)).catch((error: unknown) => error);
      await sleep(scene.random.pick([500, 2_000, MINUTE_MS]));
      await desk.command('void', { commandId: 'v1' }, { expected: 'any' });
      const answer = await begun;
      if (answer instanceof Error) throw answer;
    },
  },
  {
    name: 'hold left for days',
    play: async (desk, pick, scene) => {
      const { status } = await desk.authorize(goodCard(pick), {
        captureDeadline: pick(['3 hours', '3 days', '5 days']),
        onDeadline: pick(['void', 'capture']),
      });
      if (status !== 'authorized' || pick([true, false])) return;
      await sleep(scene.random.int(0, 4 * DAY_MS));
      const commands = { capture: { reference: desk.reference('c1') }, void: { commandId: 'v1' } };
      const name = pick(['capture', 'void'] as const);
      await desk.command(name, commands[name], { expected: 'any' });
    },
  },
  {
    name: 'hold made anew',
    play: async (desk, pick, scene) => {
      const card = await storedCard(desk, pick);
      const hold = desk.another('h1');
      hold.account.holdsRenewed = true;
      const { status } = await hold.authorize(card, {
        captureDeadline: '2 hours',
        onDeadline: 'reauthorize',
        reauthorization: { times: pick([1, 2]) },
      });
      if (status !== 'authorized') return;
      if (pick([true, true, false])) {
        const again = { commandId: 'anew' };
        await askPatiently(
          patience(scene),
          (waitFor) => scene.parts.holdfast.reauthorize(hold.account.reference, again, { waitFor }),
          (answer) => (['pending', 'unknown'].includes(answer.status) ? 'ask again' : 'enough'),
        );
      }
      if (pick([true, false])) await hold.command('capture', { reference: hold.reference('c1') }, { expected: 'any' });
      await hold.ended();
    },
  },
  {
    name: 'cards listed',
    play: async (desk, pick, scene) => {
      const { customerId, token } = await storedCard(desk, pick);
      const businessUnit = desk.account.businessUnit;
      let listed: readonly { token: string }[] = [];
      const list = (): Promise<HoldfastError | undefined> =>
        askPatiently(
          patience(scene),
          () => scene.parts.holdfast.listCards({ customerId, businessUnit }),
          (answer) => {
            listed = (answer as unknown as { cards: { token: string }[] }).cards;
            return 'enough';
          },
        );
      let refusal = await list();
      // Garbage instead of a list, as often as it is asked for: it may be asked for again.
      for (; refusal?.type === 'UnexpectedResponse'; refusal = await list()) await sleep(MINUTE_MS);
      desk.expect(refusal === undefined, `listing its cards: ${refusal?.message}`);
      desk.expect(JSON.stringify(listed).includes(token), 'its card is not in the list');
    },
  },
  {
    name: 'risk analyses that end in each way',
    play: async (desk) => {
      for (const wanted of ['approve', 'decline', 'review'] as const) {
        const own = wanted === 'approve' ? desk : desk.another(wanted);
        const { status } = await own.analyseRisk(CARDS.succeeds, { billingAddress: { email: RISK_EMAILS[wanted] } });
        own.expect(status === wanted, `its risk is ${wanted}, but the answer was ${status}`);
      }
    },
  },
  {
    name: 'charge made elsewhere',
    play: async (desk, pick, scene) => {
      const { account } = desk;
      const { reference, amount, currency, businessUnit } = account;
      const provider = scene.simulation.world.providerFor(businessUnit);
      const card = pick([CARDS.pendsThenSucceeds, CARDS.pendsThenFails]);
      const { token } = await scene.parts.sandbox.tokenize({ cardNumber: card, publicKey: scene.unit.publicKey });
      const made = await persist(scene, async () => {
        const { data: payment } = await provider.createPayment(
          { amount, currency },
          { idempotencyKey: `p-${reference}` },
        );
        // It looks before it repeats: some services check a token, used up by now, before they know the key.
        const before = (await scene.parts.sandbox.ledger()).find(({ payment_id: id }) => id === payment.id);
        if (before !== undefined) return { paymentId: payment.id, transactionId: before.transaction_id };
        const { data: charge } = await provider.createCharge(
          payment.id,
          { paymentMethod: { type: 'tokenized', token }, reconciliationId: reference },
          { idempotencyKey: `c-${reference}` },
        );
        return { paymentId: payment.id, transactionId: charge.id };
      });
      if (made === undefined) throw new Error('another program could not make its charge');
      account.paymentId = made.paymentId;
      const following = { ...made, kind: 'charge' as const, businessUnit, amount, currency };
      const refusal = await askPatiently(
        patience(scene),
        () => scene.parts.holdfast.resolvePending(following),
        () => 'enough',
      );
      desk.expect(refusal === undefined, `it could not be followed: ${refusal?.message}`);
      const answer = (await resultOf(scene, `resolve-${made.transactionId}`)) as FinalChargeOutcome;
      account.told.push({ what: 'charge', expected: 'any', answer });
      account.outcome = answer;
    },
  },
  {
    name: 'subscription over months',
    play: async (desk, pick, scene) => {
      const subscription = await desk.subscribe(await storedCard(desk, pick), {
        interval: pick(['week', 'month']),
        periods: scene.random.int(3, 8),
        sinceDays: 0,
        more: {
          trialDays: pick([0, 10]),
          timeZone: pick(['Europe/Rome', 'America/New_York', 'UTC']),
          billAt: '10:00',
          jitter: '15 minutes',
          dunning: { retryDays: [1, 3], onGivenUp: pick(['cancel', 'continue']) },
          missedPeriods: 'billAll',
        },
      });
      await sleep(scene.random.int(0, 40 * DAY_MS));
      const acts = scene.random.int(1, 3);
      const from = scene.random.int(0, 2);
      for (let act = 0; act < acts; act += 1) {
        const name = (['pause', 'changePlan', 'cancel'] as const)[(from + act) % 3]!;
        if (name === 'pause') {
          const { refusal } = await subscription.command('pause', {}, `pause ${act}`);
          await sleep(scene.random.int(0, 20 * DAY_MS));
          if (refusal === undefined)
            await subscription.command('resume', { missedPeriods: 'billAll' }, `resume ${act}`);
        } else if (name === 'changePlan') await subscription.command('changePlan', { billAt: '16:30' }, `plan ${act}`);
        else if (act === acts - 1) await subscription.command('cancel', { when: 'periodEnd' });
        await sleep(scene.random.int(0, 30 * DAY_MS));
      }
      // No other course of events changes a plan, and few of a thousand flows are of this one.
      if ((4 - from) % 3 >= acts) await subscription.command('changePlan', { billAt: '16:30' }, 'plan at last');
      await subscription.ended();
    },
  },
  {
    name: 'subscription that is never paid',
    play: async (desk, pick, scene) => {
      const card = await storedCard(desk, pick);
      await scene.parts.sandbox.addFault({
        action: 'result',
        status: 'Failed',
        category: 'payment_method_declined',
        sub_category: 'insufficient_funds',
        method: 'POST',
        path: '/payments/*/charges',
        reconciliation_id: `${desk.account.reference}-s.*`,
      });
      const onGivenUp = pick(['cancel', 'cancel', 'continue'] as const);
      const dunning = { retryDays: [1, 3], maxAttempts: 3, onGivenUp };
      const subscription = await desk.subscribe(card, {
        interval: 'month',
        periods: 2,
        sinceDays: 0,
        more: { dunning },
      });
      await subscription.ended();
      desk.expect(subscription.billedPeriods === 0, 'what was always declined is told as billed');
    },
  },
];
