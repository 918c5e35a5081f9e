import { notificationsWorkflowId } from '../../src/contract/names.js';
import { MINUTE, type VirtualTime } from '../support/virtual-time.js';
import type { LongScenario } from './long-scenarios.js';

/** A flow that tells its merchant, and the flow that sends it. */
export const NOTIFICATION_SCENARIOS: Readonly<Record<string, LongScenario>> = {
  'charge-told': async (time) => ({ workflowId: await told(time, []) }),
  'notifications-refused-then-taken': async (time) => {
    const workflowId = notificationsWorkflowId(await told(time, [503, 422]));
    await time.passUntil((await time.now()) + MINUTE);
    await time.client.workflow.getHandle(workflowId).result();
    return { workflowId };
  },
};

/** @param answers the statuses of the merchant's first answers; 200 after them */
async function told(time: VirtualTime, answers: number[]): Promise<string> {
  const url = await time.listen(() => answers.shift() ?? 200);
  const charge = await time.start({ ...(await time.input()), notify: { url } });
  await charge.outcome();
  return charge.workflowId;
}
