import { CancellationScope, condition, sleep } from '@temporalio/workflow';
import { durationMs } from '../../src/contract/fields.js';
import { DEFAULT_WAIT_MS, LONGEST_WAIT_MS, type OutcomeRequest } from '../../src/contract/messages.js';

interface Asked {
  /** There is something to tell. */
  known: () => boolean;
  /** Nobody may be answered now, whatever is known or how long they have waited. */
  silent: () => boolean;
  /** The run ends and the next one follows: whoever waits is told how it stands. */
  leaving: () => boolean;
}

/** For an `outcome` update: waits until something is known or the caller's time is up. */
export async function awaitOutcome(
  { waitFor }: Pick<OutcomeRequest, 'waitFor'>,
  { known, silent, leaving }: Asked,
): Promise<void> {
  const waitMs = Math.min(durationMs(waitFor ?? DEFAULT_WAIT_MS) ?? DEFAULT_WAIT_MS, LONGEST_WAIT_MS);
  let timeIsUp = waitMs === 0;
  const timer = new CancellationScope({ cancellable: true });
  if (!known() && !timeIsUp) {
    timer
      .run(() => sleep(waitMs, { summary: 'Until the caller is told' }))
      .then(
        () => (timeIsUp = true),
        () => undefined,
      );
  }
  // One condition from the start: handlers wake, and so answer, in the order in which they came.
  await condition(() => !silent() && (known() || timeIsUp || leaving()));
  timer.cancel();
}
