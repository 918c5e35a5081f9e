import { z } from 'zod';
import type { Dispute } from './disputes.js';
import { businessUnitSchema, currencySchema, uuidSchema } from './fields.js';
import type { FinalStepOutcome } from './outcome.js';
import { type InputOf, type OutputOf, SharedSchema } from './shared-schema.js';
import type { TransactionRecord } from './records.js';
import type { TransactionEvent } from './transaction-event.js';

/**
 * Input of workflow `paymentActions`, whose id is `payment-actions-<paymentId>`: executes commands on a payment after
 * the flow that created it has ended. Everything else is read from the service.
 */
export const paymentActionsInputSchema = new SharedSchema(
  z.strictObject({
    paymentId: uuidSchema.zod,
    /** The unit under which the payment was created. */
    businessUnit: businessUnitSchema.zod.default('default'),
    currency: currencySchema.zod,
    /** Reference of the flow that created the payment, if Holdfast created it. */
    paymentReference: z.string().min(1).max(70).optional(),
  }),
);
export type PaymentActionsInput = InputOf<typeof paymentActionsInputSchema>;
export type ParsedPaymentActionsInput = OutputOf<typeof paymentActionsInputSchema>;

/**
 * Commands on a payment after its flow has ended. Names have at most 9 letters, because the other key parts are longer
 * here: the workflow id (`payment-actions-` + 36) and the sequence (12 + `-` + 2).
 */
export const PAYMENT_ACTIONS = ['refund', 'void', 'capture'] as const;
export type PaymentAction = (typeof PAYMENT_ACTIONS)[number];

/** One command and its outcome; passed from run to run. */
export interface ActionRecord {
  commandId: string;
  /** `reauthorize` occurs only in the records of a hold's own flow. */
  action: PaymentAction | 'reauthorize';
  /** The same `commandId` with another request is refused. */
  request: string;
  key: string;
  /** Minor units. */
  amount: number;
  reference?: string;
  outcome: FinalStepOutcome;
  /** Given to the caller instead: the void of a pending transaction succeeded, but that transaction may have too. */
  refusal?: string;
  /** A signed event contradicts `outcome`: by it the transaction has this status, and the caller had been answered otherwise. */
  told?: { status: 'Succeed' | 'Failed'; created: string };
  /** A person has seen the contradiction: where a list of the service shows the transaction as failed, it counts as failed again. */
  toldSeen?: true;
}

/** A result keeps so many commands, the latest ones. */
export const KEPT_ACTIONS = 100;

/** What an open run of commands and the runs before it have done, for a reconciliation. */
export interface ActionsSoFar {
  actions: ActionRecord[];
  /** Ids of transactions that it has made, or that an operator has said it made. */
  made: string[];
  /** A result of before had as many commands as it can. */
  mayLackEarlier?: true;
}

/** Result of a run, used by the next one. */
export interface PaymentActionsResult {
  status: 'idle';
  paymentId: string;
  actions: ActionRecord[];
  /**
   * Lists that the service refused, by kind, if the run could not determine the allowed amount. The next run then
   * needn't wait 15 minutes again. Otherwise a rare caller would never be told that the service refuses the lists.
   */
  refusedLists?: Readonly<Record<string, { times: number; firstAt: number; lastAt: number; bySetting: boolean }>>;
  /** For the runs that follow. */
  [TOLD_OF_CREATOR]?: ToldOfCreator[];
  /** The payment is disputed: told once, whatever runs follow. `untold`: no run has learned yet whether there is an endpoint to tell. */
  disputed?: Dispute & { untold?: true };
  /** Set on reading: a later run has ended without a result. */
  incomplete?: true;
}

/** What was done to a payment on command before this run. */
export interface ActionsBefore {
  /** undefined: no run of the payment's commands has ended. */
  result?: PaymentActionsResult;
  /** Only if it was asked for, and may be left out then: it is asked for alone. */
  creator?: PaymentCreator;
}

/** Field of a result that names transactions of another flow: its own flow does not know them. */
export const TOLD_OF_CREATOR = 'toldOfCreator';

/** The last signed event of a transaction of the creating flow that contradicts how that flow has ended, or takes that back. */
export interface ToldOfCreator {
  event: TransactionEvent;
  /** It says what was answered, and another one before it did not. */
  agrees?: true;
  /** A person has looked. */
  seen?: true;
}

/** Transactions of one payment, as known to the flow that created them. */
export interface MadeTransactions {
  paymentId: string;
  authorizations: TransactionRecord[];
  charges: TransactionRecord[];
  captures: TransactionRecord[];
  refunds: TransactionRecord[];
  voids: TransactionRecord[];
  /** Both the money transaction and its void succeeded, so the remaining amount is unknown. */
  despiteVoid?: true;
}

/** What `paymentActions` knows of the flow that created a payment. */
export interface PaymentCreator {
  /** Epoch ms, by the worker's clock: when this was looked up. */
  lookedAt: number;
  /** While the flow is open, only it may act on the payment. */
  open: boolean;
  /** It has ended, and stays open until that is handed over to whoever tells the merchant. */
  handsOver?: true;
  /** Commands that the flow executed. A repeated one is answered from here. */
  actions: ActionRecord[];
  /** What the flow did to the payment, for services without lists; undefined if its result doesn't say. */
  made?: MadeTransactions;
  /** Signed events that contradict what these commands were answered, and wait for a person. */
  told?: TransactionEvent[];
  /** Its latest run has no result: it was terminated or is no longer kept. Some of its commands may be unknown. */
  lost?: true;
}
