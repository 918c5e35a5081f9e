import type { FinalOutcome } from '../../src/contract/messages.js';
import type { DemoStack } from './demo-stack.js';
import {
  PENDS_THEN_SUCCEEDS,
  ProblemError,
  REPLY_OR_EVENT,
  SUCCEEDS,
  type DemoFlow,
  AMOUNT,
  CURRENCY,
  PRICE,
} from './demo-step.js';
import { movements } from '../audit/ledger.js';

const ONE_CHARGE = [{ kind: 'charge', amount: AMOUNT, currency: CURRENCY }] as const;

/** ms that leave enough time to kill a worker while the service still processes its call. */
const SLOW_CHARGE_MS = 3_000;

export const succeeds: DemoFlow = {
  name: 'succeeds',
  title: 'A charge that succeeds',
  expected: { status: 'succeeded', knownBy: REPLY_OR_EVENT, moved: ONE_CHARGE },
  async run(step) {
    step.step(`a business service asks for ${PRICE}`);
    return await step.end(await step.charge(SUCCEEDS));
  },
};

export const declined: DemoFlow = {
  name: 'declined',
  title: 'A charge that is declined',
  expected: { status: 'declined', knownBy: REPLY_OR_EVENT, moved: [] },
  async run(step) {
    const [category, subCategory] = ['payment_method_declined', 'insufficient_funds'];
    const result = { action: 'result', status: 'Failed', category, sub_category: subCategory } as const;
    await step.plant({ ...result, method: 'POST', path: '*/charges', times: 1 });
    step.step(`asks for ${PRICE} on a card without enough money`);
    const outcome = await step.end(await step.charge(SUCCEEDS));
    if (outcome.status === 'declined' && (outcome.category !== category || outcome.subCategory !== subCategory)) {
      throw new ProblemError(
        `it was declined as ${outcome.category}/${outcome.subCategory}, not ${category}/${subCategory}`,
      );
    }
    return outcome;
  },
};

export const replyLost: DemoFlow = {
  name: 'reply-lost',
  title: 'The reply of the charge call is lost after the money was taken',
  expected: { status: 'succeeded', knownBy: REPLY_OR_EVENT, moved: ONE_CHARGE },
  async run(step) {
    const fault = await step.plant({ action: 'drop_reply', method: 'POST', path: '*/charges', times: 1 });
    step.step(`asks for ${PRICE}; the service will take it and then hang up without an answer`);
    const outcome = await step.end(await step.charge(SUCCEEDS));
    if ((await step.timesFired(fault)) !== 1)
      throw new ProblemError('the reply was not dropped, so this flow showed nothing');
    step.step(`the connection broke, which says nothing about the money: ${howLearned(outcome)}`);
    return outcome;
  },
};

/** @param onRestarted called once a new worker serves */
export const workerKilled = (onRestarted: () => void): DemoFlow => ({
  name: 'worker-killed',
  title: 'The worker is killed (SIGKILL) while its charge call is under way',
  expected: { status: 'succeeded', knownBy: REPLY_OR_EVENT, moved: ONE_CHARGE },
  async run(step) {
    const delay = { action: 'delay', delay_ms: SLOW_CHARGE_MS } as const;
    const fault = await step.plant({ ...delay, method: 'POST', path: '*/charges', times: 1 });
    const charging = step.charge(SUCCEEDS);
    charging.catch(() => undefined);
    step.step(`asks for ${PRICE}; the service will take ${SLOW_CHARGE_MS / 1000} s over it`);
    try {
      await step.until(async () => (await step.timesFired(fault)) > 0);
      await step.killWorker();
      step.step('the call is under way: worker killed, nobody is left to take the answer');
      if (movements(await step.ledger()).length > 0) {
        throw new ProblemError('the worker died only after the service had answered, so this flow showed nothing');
      }
      await step.until(async () => movements(await step.ledger()).length > 0);
      step.step('the service has taken the money meanwhile');
    } finally {
      await step.startWorker();
    }
    onRestarted();
    step.step('a new worker serves; Temporal gives it the flow when the dead one has been silent for 10 s');
    const outcome = await step.end(await charging);
    step.step(`the new worker knows only that it may have been sent: ${howLearned(outcome)}`);
    return outcome;
  },
});

export const webhook: DemoFlow = {
  name: 'webhook',
  title: 'A charge that stays Pending until a webhook settles it',
  expected: { status: 'succeeded', knownBy: ['webhook'], moved: ONE_CHARGE },
  async run(step) {
    step.step(`asks for ${PRICE} on a card whose bank takes its time`);
    const answer = await step.charge(PENDS_THEN_SUCCEEDS);
    step.step(`the caller is told "${answer.status}" at once; the flow waits for an event, a poll or an operator`);
    return await step.end(answer);
  },
};

export const webhookLost: DemoFlow = {
  name: 'webhook-lost',
  title: 'A charge that stays Pending and whose webhook never comes',
  expected: { status: 'succeeded', knownBy: ['poll'], moved: ONE_CHARGE },
  async run(step) {
    await step.plant({ action: 'lose_event' });
    step.step(`asks for ${PRICE} on a card whose bank takes its time; every event will be lost`);
    const answer = await step.charge(PENDS_THEN_SUCCEEDS);
    step.step(`the caller is told "${answer.status}" at once; the flow looks after 5 s, 15 s, 1 min, 5 min, ...`);
    step.step(`asked to explain itself: ${await step.explain()}`);
    const outcome = await step.end(answer);
    step.step(`${await step.lostEvents()} events were lost; a poll found the answer`);
    return outcome;
  },
};

/** The charge's webhook may arrive before the second attempt of its call. Both are correct evidence. */
function howLearned({ evidence }: FinalOutcome): string {
  return evidence.knownBy === 'webhook'
    ? 'its webhook came first, and a read confirmed it'
    : 'sent again with the same idempotency key, and answered with the first charge';
}

const OURS = 'PaymentStatus IS NOT NULL';
/** A flow that only waits for a further command, as that of a refund does for 30 days, counts as idle. */
const OPEN = `${OURS} AND ExecutionStatus = "Running" AND PaymentStatus != "idle"`;

/** Reports flows of earlier starts in Temporal: nothing, one line, or two lines with a link to those still open. */
export async function earlierFlows({ temporal, context }: DemoStack): Promise<string[]> {
  const [all, open] = await Promise.all([temporal.workflow.count(OURS), temporal.workflow.count(OPEN)]);
  if (all.count === 0) return [];
  const flows = all.count === 1 ? '1 flow' : `${all.count} flows`;
  if (open.count === 0) return [`Temporal still has ${flows} of earlier starts, all of them at rest.`];
  const goOn = open.count === 1 ? '1 has not ended yet and goes on' : `${open.count} have not ended yet and go on`;
  const { uiUrl, namespace } = context.temporal;
  return [
    `Temporal still has ${flows} of earlier starts; ${goOn}:`,
    `   ${uiUrl}/namespaces/${encodeURIComponent(namespace)}/workflows?query=${encodeURIComponent(OPEN)}`,
  ];
}
