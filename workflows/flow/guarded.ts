import type { Dispute } from '../../src/contract/disputes.js';
import type { Approved } from '../../src/contract/messages.js';
import type { Evidence } from '../../src/contract/outcome.js';
import type { OpenApproval } from '../../src/contract/outgoing.js';

/** What keeps a flow from sending money, and from waiting for a buyer for ever: plain data, carried from run to run. */
export interface Guarded {
  /** The reason for a person that a read takes back as soon as it answers. */
  askedUntilRead?: string | undefined;
  /** Its business unit limits what it sends to cards. */
  limitsOutgoing?: true;
  /** A chargeback of the payment, by what first showed it. */
  dispute?: Dispute & { passedOn?: true; untold?: true };
  /** One that was seen, and not looked into yet. Epoch ms. */
  disputeSeen?: { by: 'event' | 'statement'; since: number; times: number; nextAt: number } | undefined;
  /** Hashes of the events that were looked into, or are: what is replayed is no news. */
  disputesSeen?: readonly string[];
  /** The flow that made the payment, as the service has echoed it. */
  madeBy?: string | undefined;
  /** The credit or refund that waits for another person. */
  approval?: OpenApproval | undefined;
  /** By command: what another person has decided. */
  approvals?: Readonly<Record<string, Approved>>;
  /** Who has approved the operation under way. */
  approved?: Evidence['approved'] | undefined;
  /** ms: the pending operation of a buyer who was sent away is voided then. */
  readonly pendingLimitMs?: number;
  /** Epoch ms: when that is tried next; undefined: no more. */
  pendingVoid?: { tries: number; nextAt: number | undefined };
  /** Voids that the flow has sent of what pended. */
  voidsOfPending?: readonly string[];
}
