import type { Pursuit } from '../../src/domain/hold.js';
import type { Hold } from '../flow/state.js';

/**
 * What the merchant asked for at the start is a wish like a command; only a deadline is pursued. A capture that an
 * unclear look kept from being sent has not failed: it is tried again, and the money not let go.
 */
export function notePursued(hold: Hold, captures: number): void {
  const { pursuit, terms } = hold;
  const captureFailed = hold.sequences.capture > captures;
  if (hold.captureAtOnce) hold.captureAtOnce = !captureFailed && Date.now() < terms.heldUntil;
  else
    hold.pursuit = {
      tries: pursuit.tries + 1,
      lastTryAt: Date.now(),
      captureFailed: pursuit.captureFailed || captureFailed,
    };
}

/** What the deadline of a hold goes by. */
export function pursuitOf({ mustVoid, onDeadline, pursuit, unconfirmedCapture }: Hold): Pursuit {
  return {
    ...pursuit,
    onDeadline,
    mustVoid: mustVoid !== undefined,
    // A second capture could take the money twice.
    captureFailed: pursuit.captureFailed || unconfirmedCapture !== undefined,
  };
}
