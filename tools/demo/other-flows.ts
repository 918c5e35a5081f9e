import { HoldfastError } from '../../src/client/index.js';
import type { CommandAnswer } from '../../src/client/send-command.js';
import { paymentActionsWorkflowId } from '../../src/contract/names.js';
import { showMoney } from '../../src/domain/money.js';
import { ProblemError, REPLY_OR_EVENT, SUCCEEDS, type DemoFlow, CURRENCY, WAIT } from './demo-step.js';

/** Minor units. The mock provider approves every refund from 40.00. */
const CHARGED = 10_000;
const REFUNDED = 4_500;
const REVIEWED = 25_000;
const CREDITED = 7_500;

/** Makes the mock risk provider require a review. */
const REVIEW_EMAIL = 'manual-review-hub@email.com';

const money = (amount: number): string => showMoney(amount, CURRENCY);
const movement = (kind: string, amount: number) => ({ kind, amount, currency: CURRENCY });

export const refund: DemoFlow = {
  name: 'refund',
  title: 'Two equal refunds, the reply to the first one lost, and one too many',
  success: `refunded ${money(REFUNDED)} twice`,
  expected: {
    status: 'succeeded',
    knownBy: REPLY_OR_EVENT,
    moved: [movement('charge', CHARGED), movement('refund', REFUNDED), movement('refund', REFUNDED)],
  },
  async run(step) {
    const charge = await step.end(await step.holdfast.charge(await step.input(SUCCEEDS, CHARGED), WAIT));
    step.workflowId = paymentActionsWorkflowId(charge.paymentId ?? '');
    step.step(`${money(CHARGED)} were charged, and that flow has ended; the payment's own flow takes what follows`);
    const refundOf = async (amount: number, reference = step.laterReference()): Promise<CommandAnswer> =>
      await step.holdfast.refund({ payment: step.reference, amount, reference }, WAIT);
    const struck = step.laterReference();
    const fault = await step.plant({ action: 'drop_reply', method: 'POST', path: '*/refunds', times: 1 }, struck);
    const [first, second] = await Promise.all([refundOf(REFUNDED, struck), refundOf(REFUNDED)]);
    if ((await step.timesFired(fault)) !== 1) {
      throw new ProblemError('the reply to its first refund was not dropped, so this flow showed nothing');
    }
    const ids = new Set([first, second].map(({ transactionId }) => transactionId));
    if (ids.size !== 2) throw new ProblemError('its two refunds were told to be the same one');
    step.step(
      `${money(REFUNDED)} are refunded for each of two articles; the reply to the first was lost after the money ` +
        'had moved, and yet each was paid once: each refund has a key of its own',
    );
    const refusal = await refundOf(REFUNDED).then(
      ({ status }) => `a third refund was not refused: it is ${status}`,
      (error: unknown) => error,
    );
    if (!(refusal instanceof HoldfastError && refusal.type === 'InvalidInput')) throw new ProblemError(String(refusal));
    step.step(`for a third nothing is sent. ${refusal.message}`);
    if (second.status === 'pending' || second.status === 'unknown') {
      throw new ProblemError(`its second refund is still ${second.status}`);
    }
    return second;
  },
};

export const review: DemoFlow = {
  name: 'review',
  title: 'A charge whose risk a person has to look at first',
  success: 'succeeded (approved by an operator)',
  expected: {
    status: 'succeeded',
    knownBy: REPLY_OR_EVENT,
    moved: [movement('charge', REVIEWED)],
  },
  async run(step) {
    step.step(`asks for ${money(REVIEWED)}, its risk to be analysed before any money moves`);
    const input = await step.input(SUCCEEDS, REVIEWED);
    const risk = { when: 'before' } as const;
    const answer = await step.holdfast.charge({ ...input, risk, billingAddress: { email: REVIEW_EMAIL } }, WAIT);
    if (answer.status !== 'underReview') throw new ProblemError(`it is ${answer.status}, not underReview`);
    step.step(
      `the caller is told "underReview", score ${answer.score}; an event, a poll, an operator or a time limit ends it`,
    );
    await step.holdfast.decideReview(step.reference, {
      decision: 'approve',
      who: 'ann@demo',
      why: 'a customer of many years',
    });
    step.step('an operator approves, and says who and why: both are kept with the result');
    const outcome = await step.end(answer);
    if (outcome.risk?.decidedBy !== 'operator')
      throw new ProblemError('its result does not say that an operator decided');
    return outcome;
  },
};

export const credit: DemoFlow = {
  name: 'credit',
  title: 'A credit: money to a card, without an earlier payment',
  expected: { status: 'succeeded', knownBy: REPLY_OR_EVENT, moved: [movement('credit', CREDITED)] },
  async run(step) {
    step.step(`sends ${money(CREDITED)}`);
    return await step.end(await step.holdfast.credit(await step.input(SUCCEEDS, CREDITED), WAIT));
  },
};
