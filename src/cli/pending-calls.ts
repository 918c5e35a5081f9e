import type { Client, WorkflowExecutionDescription } from '@temporalio/client';
import { Decoder } from './decode.js';

/** A call that is running or waits for its next attempt. The history shows it only after it has ended. */
export interface PendingCall {
  name: string;
  attempt: number;
  /** ISO 8601 UTC; absent while an attempt is running. */
  nextAttemptAt?: string;
  lastFailure?: string;
}

export async function pendingCallsOf(client: Client, flow: WorkflowExecutionDescription): Promise<PendingCall[]> {
  const decoder = new Decoder(client);
  const pending = flow.raw.pendingActivities ?? [];
  return await Promise.all(
    pending.map(async ({ activityType, attempt, nextAttemptScheduleTime: next, lastFailure }) => {
      const why = await decoder.failure(lastFailure);
      return {
        name: activityType?.name ?? '?',
        attempt: attempt ?? 1,
        ...(next && { nextAttemptAt: new Date(Number(next.seconds ?? 0) * 1_000).toISOString() }),
        ...(why !== undefined && { lastFailure: why }),
      };
    }),
  );
}
