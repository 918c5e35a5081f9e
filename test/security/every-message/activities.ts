import { activityInfo, CompleteAsyncError, heartbeat, sleep } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { isSealed } from '../../../src/contract/payload-marks.js';

export interface Told {
  what: string;
}

const markOf = (value: unknown) => ({ isSealed: isSealed(value) });

/** What the workflows of these tests call. */
export const activities = {
  seen: async (told: Told) => markOf(told),
  async fails(told: Told): Promise<void> {
    throw ApplicationFailure.nonRetryable('meant', 'Meant', told);
  },
  /** The second attempt says whether it knows the heartbeat of the first as one of ours. */
  async beats(told: Told) {
    if (activityInfo().attempt > 1) return markOf(activityInfo().heartbeatDetails);
    heartbeat(told);
    await sleep(200);
    throw new Error('meant: the next attempt reads what was left');
  },
  async endedByClient(_told: Told): Promise<Told> {
    throw new CompleteAsyncError();
  },
};
export type Activities = typeof activities;
