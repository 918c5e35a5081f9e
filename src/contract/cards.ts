import { z } from 'zod';
import { freeText } from './card-data.js';
import { businessUnitSchema, customerIdSchema, uuidSchema } from './fields.js';
import type { Declined, Evidence, NotExecuted, OutcomeBase, Pending, Unknown } from './outcome.js';
import { buyerSchema, cardSchema, paymentSchema } from './payment-input.js';
import type { PaymentMethodRecord } from './records.js';
import { type InputOf, type OutputOf, SharedSchema } from './shared-schema.js';

const { customerId: _made, ...ofPayment } = paymentSchema.zod.shape;

/** Input of workflow `storeCard`. Published as `docs/schemas/store-card-input.json`. */
export const storeCardInputSchema = new SharedSchema(
  z
    .strictObject({
      ...ofPayment,
      ...buyerSchema.zod.shape,
      paymentMethod: cardSchema.zod.shape.paymentMethod,
      /** Looked up by the merchant's own reference, or created. Personal data: encrypted in the history. */
      customer: z.strictObject({
        customerReference: z.string().min(1).max(255),
        firstName: freeText(255).optional(),
        lastName: freeText(255).optional(),
        /** Required with `networkTokens`. */
        email: z
          .string()
          .max(255)
          .regex(/^[^\s@]+@[^\s@]+\.[^\s@]+$/, 'is not an e-mail address')
          .optional(),
      }),
      /** The transaction with which the buyer consents to later ones. */
      consent: z
        .strictObject({
          for: z.enum(['recurring', 'cardOnFile']).default('recurring'),
          /** `authorization` holds the amount briefly and voids it: no money is captured. */
          by: z.enum(['authorization', 'charge']).default('authorization'),
        })
        .prefault({}),
      networkTokens: z.boolean().default(false),
      /** If the buyer has consented but the card can't be stored: refund the charge, or keep it. */
      onNotStored: z.enum(['undo', 'keep']).default('undo'),
    })
    .superRefine(({ networkTokens, customer }, context) => {
      if (!networkTokens || customer.email !== undefined) return;
      context.addIssue({
        code: 'custom',
        path: ['customer', 'email'],
        message: 'is missing: network tokens need the address of the customer',
      });
    }),
);
export type StoreCardInput = InputOf<typeof storeCardInputSchema>;
export type ParsedStoreCardInput = OutputOf<typeof storeCardInputSchema>;

/** Closed list: why a card can't be on file. `refused`: a reason that only the service knows. */
const NOT_STORED_CODES = ['tokenExpired', 'cardLimit', 'storedElsewhere', 'refused'] as const;
export type NotStoredCode = (typeof NOT_STORED_CODES)[number];

/** What happened to the money of the consent transaction. */
export interface ConsentMoney {
  /**
   * `kept`: the charge stands. `voided`, `expired`: the hold was released. `capturedElsewhere`: the hold was captured,
   * but not by Holdfast. `notRefunded`: the refund failed, so an operator must refund the money.
   */
  status: 'kept' | 'voided' | 'expired' | 'capturedElsewhere' | 'refunded' | 'notRefunded';
  /** Id of the void or refund. */
  transactionId?: string;
  /** Why it was not refunded. */
  why?: string;
  /** undefined if nothing was done about the money. */
  evidence?: Evidence;
}

export interface Consented extends OutcomeBase {
  customerId: string;
  token: string;
  /** Sent with every later transaction, unless the unit's providers expect different ids. */
  consentTransactionId?: string;
  /** Set if there is no consent id: later transactions are sent without one, and a provider may decline them. */
  consentIdMissing?: string;
  money: ConsentMoney;
  /** Evidence of the consent transaction. */
  evidence: Evidence;
}

/** What `charge`, `authorizeAndCapture`, `credit` and `subscription` need to use a stored card. */
export interface Stored extends Consented {
  status: 'stored';
  last4Digits?: string;
  vendor?: string;
  /** The customer already had this token on file. */
  alreadyStored?: true;
  /** Other tokens under which the customer already had the same card number on file. */
  sameCard?: string[];
}
/** The buyer has consented, but the card is not on file: it can't be used for later transactions. */
export interface ConsentedNotStored extends Consented {
  status: 'consentedNotStored';
  code: NotStoredCode;
  /** The code as a sentence for people. */
  reason: string;
}
/** With a `code`, nothing was sent to the buyer's bank because the card could not have been stored afterwards. */
export interface NotConsented extends NotExecuted {
  code?: NotStoredCode;
}
export type FinalStoreCardOutcome = Stored | ConsentedNotStored | Declined | NotConsented;
export type StoreCardOutcome = FinalStoreCardOutcome | Pending | Unknown;

/** Input of workflow `listCards`, whose id is that of `cardWorkflowId`. */
export const listCardsInputSchema = new SharedSchema(
  z.strictObject({
    /** Part of the workflow id, which is plaintext. */
    commandId: z.string().regex(/^[A-Za-z0-9_.-]{1,100}$/, 'is not 1-100 characters of A-Z a-z 0-9 _ . -'),
    customerId: customerIdSchema.zod,
    businessUnit: businessUnitSchema.zod.default('default'),
  }),
);
export type ListCardsInput = InputOf<typeof listCardsInputSchema>;

/** Input of workflow `removeCard`, whose id is that of `cardWorkflowId`. */
export const removeCardInputSchema = new SharedSchema(listCardsInputSchema.zod.extend({ token: uuidSchema.zod }));
export type RemoveCardInput = InputOf<typeof removeCardInputSchema>;

export interface ListedCards {
  customerId: string;
  cards: PaymentMethodRecord[];
}
export interface RemovedCard {
  customerId: string;
  token: string;
  status: 'removed';
}
