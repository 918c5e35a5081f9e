import { ActivityFailure, CancellationScope, condition } from '@temporalio/workflow';
import { handing } from '../policies.js';
import { giveUp, type Telling } from './outbox.js';

/**
 * Hands over what the flow tells, as soon as it does, to the flow that sends it (`workflows/notifications.ts`). Started
 * once in each run, beside the main loop. What the run before had not handed over goes first: the same is taken once.
 */
export async function handOverAsTold(flow: Telling): Promise<never> {
  return await CancellationScope.nonCancellable(async () => {
    for (;;) {
      // On replay the result of a local activity comes earlier, so nothing may be scheduled beside one. A run that leaves
      // schedules nothing more: the next one does. Looked at again, because the main loop may have gone on before this.
      do await condition(() => isToHandOver(flow));
      while (!isToHandOver(flow));
      flow.handingOver = true;
      await handOver(flow);
      flow.handingOver = false;
    }
  });
}

function isToHandOver({ outbox, inLocalTry, leaving }: Telling): boolean {
  return outbox.waiting.length > 0 && !inLocalTry && !leaving;
}

async function handOver(flow: Telling): Promise<void> {
  const { outbox, workflowId, businessUnit } = flow;
  const { url } = outbox;
  const notifications = [...outbox.waiting];
  try {
    await handing.handOver({ workflowId, businessUnit, ...(url !== undefined && { url }), notifications });
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    giveUp(flow, notifications.length);
  }
  outbox.waiting = outbox.waiting.filter((one) => !notifications.includes(one));
}
