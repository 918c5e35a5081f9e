import { setTimeout as sleep } from 'node:timers/promises';
import type { Operation } from '../../../tools/audit/payment-record.js';
import { storedCard } from '../../../tools/chaos/scenarios/card-scenarios.js';
import { askUntilAnswered } from '../../../tools/chaos/driver/driver-context.js';
import { CARDS, goodCard, RISK_EMAILS } from '../../../tools/chaos/scenarios/scenario.js';
import { HoldfastError } from '../../../src/client/index.js';
import type { FinalChargeOutcome } from '../../../src/contract/charge.js';
import { PAYMENTS_TASK_QUEUE, paymentWorkflowId, WORKFLOW_TYPES } from '../../../src/contract/names.js';
import { ask, chargeInput, retryBudget, persist, resultOf } from './calls.js';
import type { CampaignScenario } from './scenario.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

/** What the campaigns on real processes do not run: other ways to start, to ask and to end. */
export const FURTHER_SCENARIOS: readonly CampaignScenario[] = [
  {
    name: 'charge that sends the buyer away',
    run: async (driver, pick) => {
      const merchantSiteUrl = 'https://shop.example.com/back';
      const card = pick([CARDS.pendsThenSucceeds, CARDS.pendsThenFails]);
      if (pick([true, false])) await driver.charge(card, { merchantSiteUrl, redirectTimeLimit: '30 minutes' });
      else await driver.authorize(card, { merchantSiteUrl, captureMode: 'auto' });
    },
  },
  {
    name: 'charge with a CVV',
    run: async (driver, pick, context) => {
      const input = await chargeInput(driver, context, goodCard(pick), true);
      await ask(driver, context, 'charge', (waitFor) => context.parts.holdfast.charge(input, { waitFor }));
    },
  },
  {
    name: 'charge asked again, alike and otherwise',
    run: async (driver, pick, context) => {
      const input = await chargeInput(driver, context, goodCard(pick));
      const { holdfast } = context.parts;
      const call = (): Promise<Operation> =>
        ask(driver, context, 'charge', (waitFor) => holdfast.charge(input, { waitFor }));
      const [one, other] = await Promise.all([call(), sleep(context.random.int(0, 3_000)).then(call)]);
      const ids = [one, other].map(({ answer }) => `${answer?.status} ${answer?.transactionId}`);
      driver.expect(ids[0] === ids[1], `the same charge was told as ${ids.join(' and as ')}`);
      const refusal = await askUntilAnswered(
        retryBudget(context),
        () => holdfast.charge({ ...input, amount: input.amount + 10 }),
        () => 'enough',
      );
      driver.expect(refusal?.type === 'ReferenceConflict', `another charge of that reference: ${refusal?.type}`);
    },
  },
  {
    name: 'charge started by a plain client',
    run: async (driver, pick, context) => {
      const input = await chargeInput(driver, context, pick(Object.values(CARDS)));
      const handle = await persist(context, () =>
        context.simulation.newClient().workflow.start(WORKFLOW_TYPES.charge, {
          taskQueue: PAYMENTS_TASK_QUEUE,
          workflowId: paymentWorkflowId(input.reference),
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          args: [input],
        }),
      );
      if (handle === undefined) throw new Error('a plain client could not start its charge');
      await ask(driver, context, 'charge', (waitFor) => context.parts.holdfast.charge(input, { waitFor }));
    },
  },
  {
    name: 'flow that is cancelled',
    run: async (driver, pick, context) => {
      const { client } = context.simulation;
      const begun = driver
        .authorize(pick(Object.values(CARDS)), { captureDeadline: '2 days' })
        .catch((error: unknown) => error);
      await sleep(context.random.pick([0, 200, 2_000, MINUTE_MS]));
      await persist(context, () => client.workflow.getHandle(paymentWorkflowId(driver.record.reference)).cancel());
      const answer = await begun;
      if (!(answer instanceof Error)) return;
      if (!(answer instanceof HoldfastError)) throw answer;
      // It ended before it had moved anything: the ledger say so, or not.
      driver.record.terminated = true;
    },
  },
  {
    name: 'void that comes early',
    run: async (driver, pick, context) => {
      const begun = driver
        .authorize(pick(Object.values(CARDS)), { captureDeadline: '2 days', captureMode: pick(['auto', 'manual']) })
        .catch((error: unknown) => error);
      await sleep(context.random.pick([100, 1_000, 5_000]));
      await driver.command('void', { commandId: 'v1' }, { expected: 'any' });
      const answer = await begun;
      if (answer instanceof Error) throw answer;
    },
  },
  {
    name: 'charge or credit that is voided while it is pending',
    run: async (driver, pick, context) => {
      const card = pick([CARDS.pendsThenSucceeds, CARDS.pendsThenFails]);
      const begun = (pick([true, false]) ? driver.charge(card) : driver.credit(card)).catch((error: unknown) => error);
      await sleep(context.random.pick([500, 2_000, MINUTE_MS]));
      await driver.command('void', { commandId: 'v1' }, { expected: 'any' });
      const answer = await begun;
      if (answer instanceof Error) throw answer;
    },
  },
  {
    name: 'hold left for days',
    run: async (driver, pick, context) => {
      const { status } = await driver.authorize(goodCard(pick), {
        captureDeadline: pick(['3 hours', '3 days', '5 days']),
        onDeadline: pick(['void', 'capture']),
      });
      if (status !== 'authorized' || pick([true, false])) return;
      await sleep(context.random.int(0, 4 * DAY_MS));
      const commands = { capture: { reference: driver.reference('c1') }, void: { commandId: 'v1' } };
      const name = pick(['capture', 'void'] as const);
      await driver.command(name, commands[name], { expected: 'any' });
    },
  },
  {
    name: 'hold reauthorized',
    run: async (driver, pick, context) => {
      const card = await storedCard(driver, pick);
      const hold = driver.another('h1');
      hold.record.isReauthorized = true;
      const { status } = await hold.authorize(card, {
        captureDeadline: '2 hours',
        onDeadline: 'reauthorize',
        reauthorization: { times: pick([1, 2]) },
      });
      if (status !== 'authorized') return;
      if (pick([true, true, false])) {
        const again = { commandId: 'again' };
        await askUntilAnswered(
          retryBudget(context),
          (waitFor) => context.parts.holdfast.reauthorize(hold.record.reference, again, { waitFor }),
          (answer) => (['pending', 'unknown'].includes(answer.status) ? 'ask again' : 'enough'),
        );
      }
      if (pick([true, false])) await hold.command('capture', { reference: hold.reference('c1') }, { expected: 'any' });
      await hold.ended();
    },
  },
  {
    name: 'cards listed',
    run: async (driver, pick, context) => {
      const { customerId, token } = await storedCard(driver, pick);
      const businessUnit = driver.record.businessUnit;
      let listed: readonly { token: string }[] = [];
      const list = (): Promise<HoldfastError | undefined> =>
        askUntilAnswered(
          retryBudget(context),
          () => context.parts.holdfast.listCards({ customerId, businessUnit }),
          (answer) => {
            listed = (answer as unknown as { cards: { token: string }[] }).cards;
            return 'enough';
          },
        );
      let refusal = await list();
      // Garbage instead of a list, as often as it is asked for: it may be asked for again.
      for (; refusal?.type === 'UnexpectedResponse'; refusal = await list()) await sleep(MINUTE_MS);
      driver.expect(refusal === undefined, `listing its cards: ${refusal?.message}`);
      driver.expect(JSON.stringify(listed).includes(token), 'its card is not in the list');
    },
  },
  {
    name: 'risk analyses that end in each way',
    run: async (driver) => {
      for (const wanted of ['approve', 'decline', 'review'] as const) {
        const own = wanted === 'approve' ? driver : driver.another(wanted);
        const { status } = await own.analyseRisk(CARDS.succeeds, { billingAddress: { email: RISK_EMAILS[wanted] } });
        own.expect(status === wanted, `its risk is ${wanted}, but the answer was ${status}`);
      }
    },
  },
  {
    name: 'charge of others',
    run: async (driver, pick, context) => {
      const { record } = driver;
      const { reference, amount, currency, businessUnit } = record;
      const provider = context.simulation.world.providerFor(businessUnit);
      const card = pick([CARDS.pendsThenSucceeds, CARDS.pendsThenFails]);
      const { token } = await context.parts.sandbox.tokenize({ cardNumber: card, publicKey: context.unit.publicKey });
      const made = await persist(context, async () => {
        const { data: payment } = await provider.createPayment(
          { amount, currency },
          { idempotencyKey: `p-${reference}` },
        );
        // It looks before it repeats: some services check a token, used up by now, before they know the key.
        const before = (await context.parts.sandbox.ledger()).find(({ payment_id: id }) => id === payment.id);
        if (before !== undefined) return { paymentId: payment.id, transactionId: before.transaction_id };
        const { data: charge } = await provider.createCharge(
          payment.id,
          { paymentMethod: { type: 'tokenized', token }, reconciliationId: reference },
          { idempotencyKey: `c-${reference}` },
        );
        return { paymentId: payment.id, transactionId: charge.id };
      });
      if (made === undefined) throw new Error('another program could not make its charge');
      record.paymentId = made.paymentId;
      const following = { ...made, kind: 'charge' as const, businessUnit, amount, currency };
      const refusal = await askUntilAnswered(
        retryBudget(context),
        () => context.parts.holdfast.resolvePending(following),
        () => 'enough',
      );
      driver.expect(refusal === undefined, `it could not be followed: ${refusal?.message}`);
      const answer = (await resultOf(context, `resolve-${made.transactionId}`)) as FinalChargeOutcome;
      record.operations.push({ what: 'charge', expected: 'any', answer });
      record.outcome = answer;
    },
  },
  {
    name: 'subscription over months',
    run: async (driver, pick, context) => {
      const periods = context.random.int(3, 8);
      const isMetered = pick([true, false]);
      const subscription = await driver.subscribe(await storedCard(driver, pick), {
        interval: pick(['week', 'month']),
        periods,
        sinceDays: 0,
        more: {
          ...(isMetered && { metered: true, amount: undefined }),
          trialDays: pick([0, 10]),
          timeZone: pick(['Europe/Rome', 'America/New_York', 'UTC']),
          billAt: '10:00',
          jitter: '15 minutes',
          dunning: { retryDays: [1, 3], onGivenUp: pick(['cancel', 'continue']) },
          missedPeriods: 'billAll',
        },
      });
      await sleep(context.random.int(0, 20 * DAY_MS));
      const { amount } = driver.record;
      // Refused where it is not metered.
      for (let period = 1; period <= (isMetered ? periods : 1); period += 1)
        await subscription.command('setAmount', { period, amount }, `amount ${period}`);
      await subscription.command('skipPeriod', { period: periods }, 'skip');
      await subscription.command('skipPeriod', { period: periods, undo: true }, 'skip not');
      await sleep(context.random.int(0, 20 * DAY_MS));
      const acts = context.random.int(1, 3);
      const from = context.random.int(0, 2);
      const terms = { statementSoftDescriptor: 'CLUB', dunning: { retryDays: [2], onGivenUp: 'continue' as const } };
      await subscription.command('changeTerms', terms, 'terms');
      for (let act = 0; act < acts; act += 1) {
        const name = (['pause', 'changePlan', 'cancel'] as const)[(from + act) % 3]!;
        if (name === 'pause') {
          const { refusal } = await subscription.command('pause', {}, `pause ${act}`);
          await sleep(context.random.int(0, 20 * DAY_MS));
          if (refusal === undefined)
            await subscription.command('resume', { missedPeriods: 'billAll' }, `resume ${act}`);
        } else if (name === 'changePlan') await subscription.command('changePlan', { billAt: '16:30' }, `plan ${act}`);
        else if (act === acts - 1) await subscription.command('cancel', { when: 'periodEnd' });
        await sleep(context.random.int(0, 30 * DAY_MS));
      }
      // Few of a thousand flows are of this course of events, and none of another one changes a plan.
      if ((3 - from) % 3 >= acts) {
        await subscription.command('pause', {}, 'pause at last');
        await subscription.command('resume', { missedPeriods: 'billAll' }, 'resume at last');
      }
      if ((4 - from) % 3 >= acts) await subscription.command('changePlan', { billAt: '16:30' }, 'plan at last');
      await subscription.ended();
    },
  },
  {
    name: 'subscription that is never paid',
    run: async (driver, pick, context) => {
      const card = await storedCard(driver, pick);
      await context.parts.sandbox.addFault({
        action: 'result',
        status: 'Failed',
        category: 'payment_method_declined',
        sub_category: 'insufficient_funds',
        method: 'POST',
        path: '/payments/*/charges',
        reconciliation_id: `${driver.record.reference}-s.*`,
      });
      const onGivenUp = pick(['cancel', 'cancel', 'continue'] as const);
      const dunning = { retryDays: [1, 3], maxAttempts: 3, onGivenUp };
      const subscription = await driver.subscribe(card, {
        interval: 'month',
        periods: 2,
        sinceDays: 0,
        more: { dunning },
      });
      await subscription.ended();
      driver.expect(subscription.billedPeriods === 0, 'what was always declined is told as billed');
    },
  },
];
