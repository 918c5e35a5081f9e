import { condition, continueAsNew } from '@temporalio/workflow';
import { NOTIFICATIONS_FLOW, type SentNotifications } from '../src/contract/notifications.js';
import { isSealed } from '../src/contract/payload-marks.js';
import { isHistoryLong, opened, openRun } from './kit/run.js';
import { askEndpoints, goOn, sendFirst, tryAgain } from './notifications/deliver.js';
import {
  CARRIED_VERSION,
  type Carried,
  carriedOf,
  isSettled,
  newSending,
  presentSending,
  registerHandlers,
  type Sending,
  showSending,
} from './notifications/state.js';

/**
 * Sends what one flow has to tell to the endpoints of its merchant, so that no payment waits for them. Of each endpoint
 * the first tries are made in order; what it did not take is tried again for three days, beside the others. Ends once
 * everything is taken or given up; the next thing to tell starts it again.
 */
export async function notifications(raw: unknown, carried?: Carried): Promise<SentNotifications> {
  const sending = opened(() => open(raw, carried));
  // Before a signal that came with the start can have one of them tried again.
  goOn(sending);
  registerHandlers(sending, (kept, delivery) => tryAgain(sending, kept, delivery));
  for (;;) {
    const next = sending.kept.find(({ deliveries }) => deliveries === undefined);
    if (next !== undefined) {
      next.deliveries = await askEndpoints(next);
      sendFirst(sending, next);
      continue;
    }
    showSending(sending);
    const hasNew = (): boolean => sending.kept.some(({ deliveries }) => deliveries === undefined);
    const isLong = (): boolean => isHistoryLong() && sending.firstTries === 0;
    await condition(() => hasNew() || isSettled(sending) || isLong());
    if (hasNew()) continue;
    if (isSettled(sending)) return presentSending(sending);
    // What is being tried again is tried on by the next run.
    await continueAsNew<typeof notifications>(raw, carriedOf(sending));
  }
}

function open(raw: unknown, carried: unknown): Sending {
  const { input, before } = openRun(NOTIFICATIONS_FLOW, [raw, carried], isCarried);
  return newSending(input, before);
}

/** Whoever has access to Temporal could have anything signed otherwise. */
function isCarried(carried: { v?: unknown }): carried is Carried {
  return isSealed(carried) && carried.v === CARRIED_VERSION;
}
