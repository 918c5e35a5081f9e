import { expect } from 'vitest';
import { storedInSkippedTime } from '../../support/cards.js';
import { movements } from '../../support/payments.js';
import { resetTo } from '../../support/resets.js';
import { beginHeld } from '../../support/virtual-flows.js';
import { declined, HOUR, DAY, MINUTE, type sharedTime } from './context.js';

export const HELD = 'authorization Succeed 6000 USD';
export const RELEASED = 'void Succeed 6000 USD';
export const REFUSED = 'capture Failed 6000 USD';
export const TAKEN = 'capture Succeed 6000 USD';
const CARD_ON_FILE = { cardOnFile: { entryMode: 'cof_cardholder_initiated_transaction' } } as const;

/** Tasks that a reset may go back to: the one that handled the answer of a read, and the one woken before that read. */
const TASKS = { ofTheRead: -1, beforeTheRead: -2 } as const;
export type Task = keyof typeof TASKS;
export const EACH_TASK: Task[] = ['ofTheRead', 'beforeTheRead'];

/** A hold whose deadline reauthorizes it, and which has been read a minute after it began. */
export async function held(
  time: ReturnType<typeof sharedTime>,
  task: Task,
  input: { onDeadline?: 'void' | 'capture' | 'reauthorize'; risk?: { when: 'before' }; captureDeadline?: string } = {},
) {
  const card = await storedInSkippedTime(time);
  const hold = await beginHeld(time, { ...card, ...CARD_ON_FILE, onDeadline: 'reauthorize', ...input });
  const { workflowId } = hold;
  await time.passUntil((await time.now()) + MINUTE);
  await time.holdfast.retryNow({ workflowId });
  await time.passUntil((await time.now()) + MINUTE);
  const { events } = await time.client.workflow.getHandle(workflowId).fetchHistory();
  const tasks = events?.filter((event) => event.workflowTaskCompletedEventAttributes);
  const { paymentId = '' } = await hold.status();
  const day = (number: number) => hold.startedAt + number * DAY;
  return {
    time,
    hold,
    paymentId,
    until: async (number: number) => await time.passUntil(day(number)),
    /** @param withoutSignals as with `--reapply-exclude Signal` */
    reset: async ({ withoutSignals = false, withoutUpdates = false } = {}) =>
      await resetTo(time.client, { workflowId }, tasks?.at(TASKS[task])?.eventId, [
        ...(withoutSignals ? [1] : []),
        ...(withoutUpdates ? [2] : []),
      ]),
    pass: async (ms = HOUR) => await time.passUntil((await time.now()) + ms),
  };
}

export type Held = Awaited<ReturnType<typeof held>>;

export async function declinedCapture({ time, hold, paymentId }: Held): Promise<void> {
  const fault = await time.sandbox.addFault(declined(`/payments/${paymentId}/captures`));
  expect(await hold.ask('capture', { commandId: 'a' })).toMatchObject({ status: 'declined' });
  await time.sandbox.removeFault(fault.id);
}

export async function expectReleased({ time, hold }: Held, moved: readonly string[] = [HELD, RELEASED]): Promise<void> {
  expect(await movements(time, hold.reference)).toEqual(moved);
  expect((await hold.status()).status).toMatch(/^(?:voided|expired)$/);
}
