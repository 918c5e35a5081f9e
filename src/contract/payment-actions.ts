import { z } from 'zod';
import { businessUnitSchema, currencySchema, uuidSchema } from './fields.js';
import type { FinalStepOutcome } from './outcome.js';
import type { InputOf, OutputOf } from './shared-schema.js';
import { SharedSchema } from './shared-schema.js';
import type { TransactionRecord } from './transaction.js';

/**
 * Input of workflow `paymentActions`, whose id is `payment-actions-<paymentId>`: what is done to a payment
 * after the flow that made it has ended. All else is read from the service.
 */
export const paymentActionsInputSchema = new SharedSchema(
  z.strictObject({
    paymentId: uuidSchema.zod,
    /** The unit that the payment was created under. */
    businessUnit: businessUnitSchema.zod.default('default'),
    currency: currencySchema.zod,
    /** Of the flow that made the payment, where Holdfast did. */
    paymentReference: z.string().min(1).max(70).optional(),
  }),
);
export type PaymentActionsInput = InputOf<typeof paymentActionsInputSchema>;
export type ParsedPaymentActionsInput = OutputOf<typeof paymentActionsInputSchema>;

/**
 * What is done to a payment after the flow that made it has ended. Names of at most 9 letters: in the idempotency key the
 * workflow id is longer (`payment-actions-` + 36), and so is the sequence (12 + `-` + 2).
 */
export const PAYMENT_ACTIONS = ['refund', 'void', 'capture'] as const;
export type PaymentAction = (typeof PAYMENT_ACTIONS)[number];

/** One command and what came of it; travels from a run to the next. */
export interface ActionRecord {
  commandId: string;
  /** `reauthorize` only in what a hold's own flow was told. */
  action: PaymentAction | 'reauthorize';
  /** The same command id with another request is refused. */
  request: string;
  key: string;
  /** Minor units. */
  amount: number;
  reference?: string;
  outcome: FinalStepOutcome;
  /** What its caller was told instead: a void of what was pending that has succeeded, and what it was to undo may have, too. */
  refusal?: string;
}

/** What a run leaves to the next one. */
export interface PaymentActionsResult {
  status: 'idle';
  paymentId: string;
  actions: ActionRecord[];
  /**
   * Of a run that could not tell what may be done: lists that the service refused, by kind. The next one need not wait a
   * quarter of an hour for that again, in which whoever asks seldom would never hear of the refusal.
   */
  refusedLists?: Readonly<Record<string, { times: number; firstAt: number; lastAt: number; bySetting: boolean }>>;
  /** As found again: a later run has ended without leaving what it did. */
  incomplete?: true;
}

/** Of one payment, as the flow that made them knows them. */
export interface MadeTransactions {
  paymentId: string;
  authorizations: TransactionRecord[];
  charges: TransactionRecord[];
  captures: TransactionRecord[];
  refunds: TransactionRecord[];
  voids: TransactionRecord[];
  /** What took the money has succeeded although a void of it has as well: nobody here can tell what is left of it. */
  despiteVoid?: true;
}

/** The flow that made a payment, as `paymentActions` has to know it. */
export interface PaymentCreator {
  /** It alone may act on the payment. */
  open: boolean;
  /** Commands that it has carried out: a repeated one is answered with what it did. */
  actions: ActionRecord[];
  /** What it did to the payment, for where the service lists nothing; absent where its result does not say. */
  made?: MadeTransactions;
  /** Its latest run has left no result: it was terminated, or is not kept any more. What it did on command is not all known. */
  lost?: true;
}
