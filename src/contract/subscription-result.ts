/** How a refund that a subscription has asked for stands. */
export interface RefundState {
  status: string;
  /** Minor units. */
  amount?: number;
  transactionId?: string;
  /** Nobody has confirmed that it failed: money may have moved. */
  confirmed?: false;
  /** Of a decline. */
  category?: string;
  /** Why nothing was executed. */
  reason?: string;
  /** Its business unit was braked, and nothing of it had been sent. */
  braked?: true;
}

/** How the payment of `billNow`, or the refund of `refundPeriod`, stands. */
export interface SubscriptionResult extends RefundState {
  /** Of the payment. */
  reference?: string;
  currency?: string;
  /** Of `billNow`: the brake that kept its payment from being sent. */
  brakedBy?: string;
}
