import type { FlowState, MoneyCommand } from './state.js';

/** Notes that a restore may have lost what the flow did before this was read. */
export function noteRestore(state: FlowState, read: { afterRestore?: true; doubtUntil?: number }): void {
  if (read.afterRestore === true) state.mayBeLost = true;
  if (read.doubtUntil !== undefined) state.doubtUntil = Math.max(read.doubtUntil, state.doubtUntil ?? 0);
}

/**
 * True if the lost time may have executed the command. What a flow has taken since its doubt was over it knows, however
 * long it runs.
 */
export function mayBeOfLostTime({ mayBeLost, doubtUntil }: FlowState, { takenAt }: MoneyCommand): boolean {
  return mayBeLost === true && (takenAt === undefined || doubtUntil === undefined || takenAt < doubtUntil);
}
