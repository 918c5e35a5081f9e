import { afterEach, describe, expect, test } from 'vitest';
import { idempotencyKey } from '../../../src/contract/idempotency.js';
import { paymentWorkflowId } from '../../../src/contract/names.js';
import { loseTask } from '../../support/lost-task.js';
import { movements } from '../../support/payments.js';
import { plant } from '../../time/checks.js';
import { braking } from './braking.js';
import { answers, MINUTE, SECOND, sharedTime } from './context.js';

const time = sharedTime();
const { brake, release } = braking(time);
const CHARGES = '*/charges';
/** Not quick enough for the charge to be tried inside the task. */
const SLOW_PAYMENT = { action: 'delay', method: 'POST', path: '/payments', delay_ms: 4 * SECOND, times: 1 } as const;

afterEach(async () => {
  await time.sandbox.clearFaults();
});

describe('409 where a lost task, whose charge never arrived, may have sent it', () => {
  test.each([1, 3])('%i times: the same key is sent again, as after any try that may have left', async (times) => {
    const input = await time.input();
    const workflowId = paymentWorkflowId(input.reference);
    await time.stopWorker();
    const charge = await time.start(input);
    await loseTask(time.client);
    const { amount, currency } = input;
    await time.provider.createPayment(
      { amount, currency, additionalDetails: { holdfast_workflow_id: workflowId } },
      { idempotencyKey: idempotencyKey(workflowId, 'createPayment', 1) },
    );
    await plant(time, input, SLOW_PAYMENT);
    await plant(time, input, { ...answers(409, 'POST', CHARGES), times });
    await time.startWorker();
    expect(await charge.outcome()).toMatchObject({ status: 'succeeded' });
    expect(await time.now()).toBeLessThan(charge.startedAt + 10 * MINUTE);
    expect(await movements(time, input.reference)).toEqual(['charge Succeed 1095 USD']);
  });
});

/** The worker dies once it has reported how that call ended, before it takes up the task that tells the flow. */
function diesAfter(activity: string): Promise<void> {
  const { activities } = time.simulation.engine;
  const ended = activities.ended.bind(activities);
  return new Promise((resolve) => {
    activities.ended = (task, token, end) => {
      const taken = ended(task, token, end);
      if (task.type !== activity) return taken;
      activities.ended = ended;
      for (const worker of time.simulation.workers) worker.kill();
      resolve();
      return taken;
    };
  });
}

describe('a task that is lost once a regular activity has the first charge has sent nothing', () => {
  async function answeredToTheDead(died: Promise<void>) {
    await died;
    await time.passUnserved((await time.now()) + SECOND);
    await time.startWorker();
  }

  test('a 400 is believed, and the flow is refused at once', async () => {
    const input = await time.input();
    await plant(time, input, SLOW_PAYMENT);
    await plant(time, input, { ...answers(400, 'POST', CHARGES), times: 1 });
    const died = diesAfter('createCharge');
    const charge = await time.start(input);
    await answeredToTheDead(died);
    await expect(charge.outcome()).rejects.toMatchObject({ cause: { type: 'InvalidInput' } });
    expect(await time.now()).toBeLessThan(charge.startedAt + MINUTE);
  });

  test('a brake ends the flow, and nothing is charged after the release', async () => {
    const input = await time.input();
    await plant(time, input, SLOW_PAYMENT);
    const held = time.hold('createCharge');
    const died = diesAfter('createCharge');
    const charge = await time.start(input);
    await held.reached;
    await brake();
    held.release();
    await answeredToTheDead(died);
    expect(await charge.outcome()).toMatchObject({ status: 'notExecuted', braked: true });
    await release();
    expect(await movements(time, input.reference)).toEqual([]);
  });
});
