import type { TransactionEvent } from '../../src/contract/messages.js';
import type { ParkedEventResult, ParkReason, ParsedParkedEventInput } from '../../src/contract/parked-event.js';

/** Everything a parked event knows of itself. */
export interface Parked {
  readonly event: TransactionEvent;
  /** Why it waits now. */
  reason: ParkReason;
  /** The flow it disagrees with, or the one that took it. */
  workflowId: string | undefined;
  attempts: number;
  /** Epoch ms of the next attempt. */
  dueAt: number | undefined;
  /** An operator wants it tried now. */
  woken: boolean;
  result: ParkedEventResult | undefined;
}

export function newParked({ event, reason }: ParsedParkedEventInput): Parked {
  return { event, reason, workflowId: undefined, attempts: 0, dueAt: undefined, woken: false, result: undefined };
}
