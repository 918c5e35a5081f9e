import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { movements } from '../../support/payments.js';
import { beginHeld } from '../../support/virtual-flows.js';
import { DAY, failsWith, sharedTime } from './scene.js';

const time = sharedTime();

const HELD = 'authorization Succeed 20000 USD';
const PART = 'capture Succeed 7000 USD';

/** RESET_REAPPLY_EXCLUDE_TYPE_UPDATE. */
const UPDATES = 2;

/** @param without what the engine is not to give again */
async function reset(workflowId: string, without: number[] = []): Promise<void> {
  const { events } = await time.client.workflow.getHandle(workflowId).fetchHistory();
  const first = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  await time.client.workflowService.resetWorkflowExecution({
    namespace: time.client.options.namespace,
    workflowExecution: { workflowId },
    workflowTaskFinishEventId: first?.eventId ?? null,
    requestId: randomUUID(),
    reason: 'test',
    resetReapplyExcludeTypes: without,
  });
}

describe('a hold that is reset after a part was captured', () => {
  test('does not answer a new capture of the same part with the one that was made', async () => {
    const hold = await beginHeld(time, { amount: 20_000 });
    expect(await hold.ask('capture', { commandId: 'one', amount: 7_000 })).toMatchObject({ status: 'succeeded' });
    const { transactionId } = await hold.outcome();
    const slow = time.hold('getPayment');
    await reset(hold.workflowId);
    await slow.reached;
    const again = time.client.workflow.getHandle(hold.workflowId);
    const two = again.executeUpdate('capture', { args: [{ commandId: 'two', amount: 7_000 }], updateId: 'two' });
    two.catch(() => undefined);
    slow.release();
    await time.passUntil((await time.now()) + DAY);
    await expect(two).rejects.toMatchObject(failsWith('StateConflict'));
    expect(await again.result()).toMatchObject({ status: 'captured', capturedAmount: 7_000, transactionId });
    expect(await movements(time, hold.reference)).toEqual([HELD, PART]);
  });

  test('whose capture is not given again is found captured by the look before anything is sent', async () => {
    const hold = await beginHeld(time, { amount: 20_000, onDeadline: 'capture' });
    expect(await hold.ask('capture', { commandId: 'one', amount: 7_000 })).toMatchObject({ status: 'succeeded' });
    await hold.outcome();
    await reset(hold.workflowId, [UPDATES]);
    const handle = time.client.workflow.getHandle(hold.workflowId);
    expect(await handle.result()).toMatchObject({ status: 'captured', capturedAmount: 7_000 });
    expect(await movements(time, hold.reference)).toEqual([HELD, PART]);
  });
});
