import type { KnownBy, RiskDecision } from './statuses.js';
import type { TransactionDetails } from './records.js';

/** How a final result is known (money rule 10). Times are ISO 8601 UTC. */
export interface Evidence {
  knownBy: KnownBy;
  /** The service's request ids, oldest first, at most the last 10. */
  requestIds: string[];
  /** Sends of the money POST that the flow knows of. Each may have been retried, and a lost task may have sent more. */
  attempts: number;
  startedAt: string;
  settledAt: string;
  /** Set when an operator decided. */
  operator?: { who: string; why: string };
  /** Set if it was above a limit of its business unit: who has approved it. */
  approved?: { who: string; why: string };
  /** Set if nothing was executed: the proof. */
  proof?: string;
  /** false if the flow acted after a wait without a read, because the service offered no read of the payment. */
  looked?: false;
}

/** How a declined charge may be retried: same card under a new reference, another card, or not at all. */
export type Retryable = 'newReference' | 'newCard' | 'nobody';

/** Decision of a risk analysis, and who ended its review. */
export interface RiskVerdict {
  decision: RiskDecision;
  /** The risk provider's own score. */
  score?: number;
  analysisId?: string;
  /** `time limit` if no decision came in time, `cancel` if a cancel or a void came first. */
  decidedBy: 'provider' | 'operator' | 'time limit' | 'cancel';
  knownBy: KnownBy;
  /** Set when an operator decided. */
  operator?: { who: string; why: string };
  /** A later decision, which had no effect. */
  late?: string;
}

export interface OutcomeBase {
  reference: string;
  /** Minor units. */
  amount: number;
  currency: string;
  paymentId?: string;
  transactionId?: string;
  /** Set if the payment was risk-analysed. */
  risk?: RiskVerdict;
  /** The provider's details of the transaction, if a reply or a read contained any. */
  details?: TransactionDetails;
}

/** A command's void of a pending transaction. `status` is the void's own result. */
export interface VoidOfPending {
  status: 'succeeded' | 'declined' | 'notExecuted';
  transactionId?: string;
}

/** A transaction that was pending, and failed after it was voided. */
export interface VoidedTransaction {
  status: 'declined' | 'notExecuted';
  transactionId?: string;
  category?: string;
  /** The failure was never confirmed: an operator must check whether money moved. */
  confirmed?: false;
}

export interface Succeeded extends OutcomeBase {
  status: 'succeeded';
  /** The transaction succeeded despite the void: an operator must check the payment. */
  despiteVoid?: VoidOfPending;
  evidence: Evidence;
}
export interface Declined extends OutcomeBase {
  status: 'declined';
  category: string;
  subCategory?: string;
  description?: string;
  /** Names of the service's texts that were left out because they contain card data. */
  omitted?: string[];
  retryable: Retryable;
  /** false if nothing has confirmed the failure within an hour: money may have moved, or may still. */
  confirmed: boolean;
  /** Answer to a `void` sent before it was known whether money is held: the authorization's own result. */
  nothingHeld?: true;
  evidence: Evidence;
}
/** It is proven that no money moved or will move. Safe to repeat under a new reference. */
export interface NotExecuted extends OutcomeBase {
  status: 'notExecuted';
  reason: string;
  /** Its business unit was braked, and nothing of it had been sent. */
  braked?: true;
  /** As in {@link Declined}. */
  nothingHeld?: true;
  evidence: Evidence;
}
export interface Pending extends OutcomeBase {
  status: 'pending';
  waitingFor: string;
  /** Where to send the buyer, while the redirect time limit has not passed. */
  redirectUrl?: string;
}
/** Not a failure: money may have moved. Ask again with the same reference, never with a new one. */
export interface Unknown extends OutcomeBase {
  status: 'unknown';
  /** This capture is known to have succeeded, and the rest of the hold is being released. */
  captured?: { transactionId: string; amount: number };
  waitingFor: string;
}

/** Voided while pending. `transactionId` and `evidence` belong to the void. */
export interface VoidedPending extends OutcomeBase {
  status: 'voided';
  reason: 'command' | 'pendingDeadline';
  voided: VoidedTransaction;
  evidence: Evidence;
}

/** How one money operation ended. */
export type FinalStepOutcome = Succeeded | Declined | NotExecuted;
