import type { KnownBy, RiskDecision } from './statuses.js';
import type { TransactionDetails } from './transaction.js';

/** How a final result is known (money rule 10). Times are ISO 8601 UTC. */
export interface Evidence {
  knownBy: KnownBy;
  /** Request ids of the service, oldest first, at most the last 10. */
  requestIds: string[];
  /** Sends of the money POST that the flow knows of. Each may have retried, and a lost task may have sent more. */
  attempts: number;
  startedAt: string;
  settledAt: string;
  /** Set when an operator decided. */
  operator?: { who: string; why: string };
  /** Set when nothing was executed: what proves it. */
  proof?: string;
  /** False where, after a wait, the service offered no read of the payment before it was asked to act. */
  looked?: false;
}

/** Who may try a declined charge again: the same card under a new reference, another card, or nobody. */
export type Retryable = 'newReference' | 'newCard' | 'nobody';

/** What a risk analysis said, and who ended its review. */
export interface RiskVerdict {
  decision: RiskDecision;
  /** As the risk provider gives it. */
  score?: number;
  analysisId?: string;
  /** `time limit` when nobody had decided in time, `cancel` when a cancel or a void came first. */
  decidedBy: 'provider' | 'operator' | 'time limit' | 'cancel';
  knownBy: KnownBy;
  /** Set when an operator decided. */
  operator?: { who: string; why: string };
  /** What came after the decision had been taken, and moved nothing. */
  late?: string;
}

export interface OutcomeBase {
  reference: string;
  /** Minor units. */
  amount: number;
  currency: string;
  paymentId?: string;
  transactionId?: string;
  /** Set where the payment was risk-analysed. */
  risk?: RiskVerdict;
  /** What the provider said of the transaction, as far as a reply or a read has told. */
  details?: TransactionDetails;
}

/** A void that was sent on command while something pended. `status` is how the void ended. */
export interface VoidOfPending {
  status: 'succeeded' | 'declined' | 'notExecuted';
  transactionId?: string;
}

/** What pended, and has failed since it was voided. */
export interface VoidedTransaction {
  status: 'declined' | 'notExecuted';
  transactionId?: string;
  category?: string;
  /** Nobody has confirmed that it has failed: a person is to look whether it has taken the money. */
  confirmed?: false;
}

export interface Succeeded extends OutcomeBase {
  status: 'succeeded';
  /** It has succeeded all the same: a person is to look. */
  despiteVoid?: VoidOfPending;
  evidence: Evidence;
}
export interface Declined extends OutcomeBase {
  status: 'declined';
  category: string;
  subCategory?: string;
  description?: string;
  /** Texts of the service that were left out, by name: card data was found in them. */
  omitted?: string[];
  retryable: Retryable;
  /** False when the provider could not be reached to confirm the failure within an hour. */
  confirmed: boolean;
  /** In the answer to a `void` that came before it was known whether money is held: this is how the authorization ended. */
  nothingHeld?: true;
  evidence: Evidence;
}
/** Proven: no money moved and none will. Safe to repeat under a new reference. */
export interface NotExecuted extends OutcomeBase {
  status: 'notExecuted';
  reason: string;
  /** As in {@link Declined}. */
  nothingHeld?: true;
  evidence: Evidence;
}
export interface Pending extends OutcomeBase {
  status: 'pending';
  waitingFor: string;
  /** Where the buyer has to go, as long as there is time for it. */
  redirectUrl?: string;
}
/** Not a failure: money may have moved. Ask again with the same reference; never under a new one. */
export interface Unknown extends OutcomeBase {
  status: 'unknown';
  /** The one thing that is known: this capture has succeeded, and what it has left of the hold is being let go. */
  captured?: { transactionId: string; amount: number };
  waitingFor: string;
}

/** Voided on command while it was pending; `transactionId` and evidence are those of the void. */
export interface VoidedPending extends OutcomeBase {
  status: 'voided';
  /** `command`. */
  reason: string;
  voided: VoidedTransaction;
  evidence: Evidence;
}

/** How one money operation ended. */
export type FinalStepOutcome = Succeeded | Declined | NotExecuted;
