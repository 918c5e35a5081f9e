/** What a flow claims its reference with. */
export interface ReferenceClaim {
  /** Run id that a continue-as-new and a reset keep: with the workflow id it says which flow it is. */
  firstRunId: string;
  /** Of the flow's type and input (see `idempotency.ts`). */
  fingerprint: string;
}

/** What the reference book says of a workflow id after a claim. */
export type ClaimAnswer =
  | { owner: 'this flow' }
  | {
      owner: 'another flow';
      firstRunId: string;
      fingerprint: string;
      /** Namespace of Temporal in which it ran. */
      namespace: string;
      /** ISO 8601. */
      claimedAt: string;
      /** undefined: it never came as far as a payment, so it has moved no money. */
      paymentId?: string;
    };

/**
 * Remembers for ever which flow has used a reference, whatever Temporal forgets. Optional. A payment is created only
 * after its flow's claim, and money moves on it only after the book holds its id.
 */
export interface ReferenceBook {
  /** Namespace of Temporal that this worker serves. */
  readonly namespace: string;
  /** Claims the workflow id for the flow if it is free. @throws Error if it does not answer */
  claim(workflowId: string, claim: ReferenceClaim): Promise<ClaimAnswer>;
  /** Says who has the workflow id, and claims nothing; undefined: nobody. @throws Error if it does not answer */
  ownerOf(workflowId: string, claim: ReferenceClaim): Promise<ClaimAnswer | undefined>;
  /** Enters the flow's latest payment. @throws Error if it does not answer, or if the claim is not this flow's */
  notePayment(workflowId: string, claim: ReferenceClaim, paymentId: string): Promise<void>;
}
