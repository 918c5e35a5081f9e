import { z } from 'zod';
import { freeText } from './card-data.js';
import { businessUnitSchema, customerIdSchema, uuidSchema } from './fields.js';
import type { Declined, Evidence, NotExecuted, OutcomeBase, Pending, Unknown } from './outcome.js';
import { buyerSchema, cardSchema, paymentSchema } from './payment-input.js';
import type { PaymentMethodRecord } from './records.js';
import type { InputOf, OutputOf } from './shared-schema.js';
import { SharedSchema } from './shared-schema.js';

const { customerId: _made, ...ofPayment } = paymentSchema.zod.shape;

/** Input of workflow `storeCard`. Published as `docs/schemas/store-card-input.json`. */
export const storeCardInputSchema = new SharedSchema(
  z
    .strictObject({
      ...ofPayment,
      ...buyerSchema.zod.shape,
      paymentMethod: cardSchema.zod.shape.paymentMethod,
      /** Found by the merchant's own reference, or created. Personal data: encrypted in the history. */
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
      /** The transaction by which the buyer consents to later ones. */
      consent: z
        .strictObject({
          for: z.enum(['recurring', 'cardOnFile']).default('recurring'),
          /** `authorization` holds the amount for a moment and lets it go: nothing is taken. */
          by: z.enum(['authorization', 'charge']).default('authorization'),
        })
        .prefault({}),
      networkTokens: z.boolean().default(false),
      /** When the card can't be stored although the buyer has consented: give a charge back, or keep it. */
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

/** Closed list: why a card can't be on file. `refused`: for a reason that only the service knows. */
const NOT_STORED_CODES = ['tokenExpired', 'cardLimit', 'storedElsewhere', 'refused'] as const;
export type NotStoredCode = (typeof NOT_STORED_CODES)[number];

/** What became of the money by which the buyer consented. */
export interface ConsentMoney {
  /**
   * `kept`: a charge that stands. `voided`, `expired`: a hold that is gone. `capturedElsewhere`: a hold that was
   * taken, by no flow of ours. `notRefunded`: it was to be given back and was not, so that somebody has to.
   */
  status: 'kept' | 'voided' | 'expired' | 'capturedElsewhere' | 'refunded' | 'notRefunded';
  /** Of the void or refund. */
  transactionId?: string;
  /** Why it was not refunded. */
  why?: string;
  /** Absent where nothing was done about it. */
  evidence?: Evidence;
}

interface Consented extends OutcomeBase {
  customerId: string;
  token: string;
  /** To be sent with every later transaction, unless the providers of the unit expect different ones. */
  consentTransactionId?: string;
  /** Set instead of the id where there is none: later transactions go without it, and a provider may decline them. */
  consentIdMissing?: string;
  money: ConsentMoney;
  /** Of the consent. */
  evidence: Evidence;
}

/** What `charge`, `authorizeAndCapture`, `credit` and `subscription` need of a stored card. */
export interface Stored extends Consented {
  status: 'stored';
  last4Digits?: string;
  vendor?: string;
  /** This token was on file with this customer before. */
  alreadyStored?: true;
  /** Tokens under which the customer had the same card number on file before. */
  sameCard?: string[];
}
/** The buyer has consented, but the card is not on file: no later transaction is possible with it. */
export interface ConsentedNotStored extends Consented {
  status: 'consentedNotStored';
  code: NotStoredCode;
  /** The same for a person. */
  reason: string;
}
/** With a `code`, the buyer's bank was never asked, since the card could not have been put on file afterwards. */
export interface NotConsented extends NotExecuted {
  code?: NotStoredCode;
}
export type FinalStoreCardOutcome = Stored | ConsentedNotStored | Declined | NotConsented;
export type StoreCardOutcome = FinalStoreCardOutcome | Pending | Unknown;

/** Input of workflow `listCards`, id `card-<customerId>-<commandId>`. */
export const listCardsInputSchema = new SharedSchema(
  z.strictObject({
    /** Part of the workflow id, which is plaintext. */
    commandId: z.string().regex(/^[A-Za-z0-9_.-]{1,100}$/, 'is not 1-100 characters of A-Z a-z 0-9 _ . -'),
    customerId: customerIdSchema.zod,
    businessUnit: businessUnitSchema.zod.default('default'),
  }),
);
export type ListCardsInput = InputOf<typeof listCardsInputSchema>;

/** Input of workflow `removeCard`, id `card-<customerId>-<commandId>`. */
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
