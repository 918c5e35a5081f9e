import { z } from 'zod';
import { amountSchema, uuidSchema } from '../../contract/fields.js';
import {
  CONSENT_ENTRY_MODES,
  LATER_ENTRY_MODES,
  flat3dsSchema,
  scaExemptionsSchema,
} from '../../contract/payment-input.js';
import { TRANSACTION_STATUSES, type TransactionStatus } from '../../contract/statuses.js';
import {
  addressRequest,
  answerObject,
  type FieldsOf,
  installments,
  jsonMap,
  lenient,
  lenientStringMap,
  lenientText,
  lenientTime,
  lineItemRequest,
  optionalAmount,
  optionalText,
  strictId,
  strictUrl,
  stringMap,
  sum,
  text,
} from '../fields.js';
import { providerFailures } from '../http/errors.js';
import { list, post, postForBuyer, read } from '../http/operation.js';
import { type ApiVersion, isSince, perVersion, type VersionRules } from '../versions.js';
import { type ProviderData, providerDataOf } from './provider-data.js';
import { paymentMethodRequest, paymentMethodSchema } from './tokens.js';

const scalar = z.union([z.string(), z.boolean(), z.number()]);
const nested3ds = z.strictObject({
  /** Result of the merchant's own 3D Secure server. */
  external: z
    .strictObject({
      threeDSecureVersion: text.optional(),
      threeDSecureAuthenticationStatus: text.optional(),
      xid: text.optional(),
      dsXid: text.optional(),
      encoding: text.optional(),
      cavv: text.optional(),
      eciFlag: text.optional(),
      authenticationId: text.optional(),
    })
    .optional(),
  /** About sixty fields of the provider in camelCase (`deviceChannel`, `browserHeader.javaEnabled`). */
  internal: z.record(z.string(), z.union([scalar, z.record(z.string(), scalar)])).optional(),
  scaExemptions: scaExemptionsSchema.zod.optional(),
});

/** Flat up to API version 1.2.0, nested since 1.3.0. The wrong shape is refused before sending. */
export type ThreeDSecureAttributes = z.input<typeof flat3dsSchema.zod> | z.input<typeof nested3ds>;

/** The two entry modes that give consent allow any card; the others need a stored card. */
function entryModeOf(version: ApiVersion) {
  return z
    .enum([...CONSENT_ENTRY_MODES, ...LATER_ENTRY_MODES])
    .refine((mode) => isSince(version, '1.2.0') || mode.endsWith('consent_transaction'), {
      error: `is for stored cards, which API version ${version} has not: they came with 1.2.0`,
    });
}

function threeDSecureOf(rules: VersionRules): z.ZodType<unknown, ThreeDSecureAttributes> {
  return (rules.threeDSecure === 'flat' ? flat3dsSchema.zod : nested3ds) as z.ZodType<unknown, ThreeDSecureAttributes>;
}

/** Fields common to authorization, charge and credit. */
function cardRequestFields(rules: VersionRules, version: ApiVersion) {
  return {
    paymentMethod: paymentMethodRequest(rules),
    /** The merchant's own reference, which the transaction and its events contain. */
    reconciliationId: text.optional(),
    cofTransactionIndicators: z
      .strictObject({
        cardEntryMode: entryModeOf(version),
        cofConsentTransactionId: text.optional(),
      })
      .optional(),
    threeDSecureAttributes: threeDSecureOf(rules).optional(),
    installments: installments.optional(),
    /** Address to which a redirected buyer returns. */
    merchantSiteUrl: z.url({ protocol: /^https?$/, error: 'is not an http or https address' }).optional(),
    channelType: text.optional(),
    /** Keyed by provider; sent unchanged. */
    providerSpecificData: jsonMap.optional(),
    /** Keys and values are sent unchanged. */
    additionalDetails: stringMap.optional(),
  };
}

/** Body of Create Charge and of Create Credit. */
export const chargeRequestSchema = perVersion((rules, version) => z.strictObject(cardRequestFields(rules, version)));
export type ChargeRequest = z.input<ReturnType<typeof chargeRequestSchema>>;
export type CreditRequest = ChargeRequest;

/** Body of Create Authorization. */
const authorizationRequestSchema = perVersion((rules, version) =>
  z.strictObject({
    ...cardRequestFields(rules, version),
    authorizationType: z.enum(['pre_authorization', 'final_authorization']).optional(),
  }),
);
export type AuthorizationRequest = z.input<ReturnType<typeof authorizationRequestSchema>>;

function level23Of(rules: VersionRules) {
  return z.strictObject({
    id: text.optional(),
    taxMode: text.optional(),
    /** Amounts are minor units. */
    taxAmount: sum.optional(),
    shippingAmount: sum.optional(),
    dutyAmount: sum.optional(),
    discountAmount: sum.optional(),
    fromShippingZipCode: text.optional(),
    lineItems: z
      .array(
        z.strictObject({
          ...lineItemRequest.shape,
          taxAmount: sum.optional(),
          taxPercentage: z.number().min(0).optional(),
          discountAmount: sum.optional(),
        }),
      )
      .optional(),
    shippingAddress: addressRequest(rules).optional(),
  });
}

// All fields of the following bodies are optional, and so are the bodies.

/** Body of Create Capture. */
const captureRequestSchema = perVersion((rules) =>
  z
    .strictObject({
      /** Minor units. Default: the whole amount. Required from the second capture of a payment on. */
      amount: amountSchema.zod.optional(),
      reconciliationId: text.optional(),
      /** Data for commercial cards; `level_2_3` on the wire. */
      level23: level23Of(rules).optional(),
      providerSpecificData: jsonMap.optional(),
      additionalDetails: stringMap.optional(),
    })
    .prefault({}),
);
export type CaptureRequest = NonNullable<z.input<ReturnType<typeof captureRequestSchema>>>;

/** Body of Create Refund. */
const refundRequestSchema = perVersion(() =>
  z
    .strictObject({
      /** Minor units. Default: the whole amount. Required from the second refund of a payment on. */
      amount: amountSchema.zod.optional(),
      /** The capture to refund; required if the payment has several. */
      captureId: uuidSchema.zod.optional(),
      reason: text.optional(),
      reconciliationId: text.optional(),
      providerSpecificData: jsonMap.optional(),
      additionalDetails: stringMap.optional(),
    })
    .prefault({}),
);
export type RefundRequest = NonNullable<z.input<ReturnType<typeof refundRequestSchema>>>;

/** Body of Create Void, which has neither an amount nor a reconciliation id. */
const voidRequestSchema = perVersion(() =>
  z.strictObject({ providerSpecificData: jsonMap.optional(), additionalDetails: stringMap.optional() }).prefault({}),
);
export type VoidRequest = NonNullable<z.input<ReturnType<typeof voidRequestSchema>>>;

const reasonFields = { category: optionalText, subCategory: optionalText, description: lenientText };
/** What became of a transaction. */
export interface TransactionResult extends FieldsOf<typeof reasonFields> {
  /** `Pending` for an undocumented status, so that no flow treats it as final. */
  status: TransactionStatus;
  /** The undocumented status. */
  unknownStatus?: string;
}
const resultSchema: z.ZodType<TransactionResult> = answerObject({ status: z.string(), ...reasonFields }).transform(
  ({ status, ...reason }) => ({ ...statusOf(status), ...reason }),
);

/** Accepts unknown statuses: refusing one would hide the transaction and the rest of its list. */
function statusOf(word: string): Pick<TransactionResult, 'status' | 'unknownStatus'> {
  const status = TRANSACTION_STATUSES.find((known) => known === word);
  return { status: status ?? 'Pending', ...(status === undefined && word !== '' && { unknownStatus: word }) };
}

export const transactionFields = {
  id: strictId,
  /** Minor units. Absent on voids, and at API version 1.0.0 if the currency is not known. */
  amount: optionalAmount,
  /** Often absent; then the payment has it. */
  currency: optionalText,
  reconciliationId: optionalText,
  result: resultSchema,
  additionalDetails: lenientStringMap,
  paymentMethod: lenient(paymentMethodSchema),
  providerData: lenient(providerDataOf({})),
  /** `url` is the address to which the buyer is redirected. */
  redirection: lenient(answerObject({ url: strictUrl, id: lenientText })),
  ipAddress: lenientText,
  /** ISO 3166-1 alpha-3. */
  originatingPurchaseCountry: lenientText,
  /** Refunds only. */
  captureId: optionalText,
  /** Refunds only. */
  reason: lenientText,
  /** Epoch ms as text. */
  created: lenientTime,
};

/** An authorization, capture, charge, credit, void or refund. Raw provider texts are left out. */
export interface Transaction
  extends Omit<FieldsOf<typeof transactionFields>, 'result' | 'providerData'>, TransactionResult, ProviderData {}
export const transactionSchema: z.ZodType<Transaction> = answerObject(transactionFields).transform(
  ({ id, result, providerData, ...own }) => ({ id, ...result, ...own, ...providerData }),
);

/** Operations that call the provider and depend on the state of the payment. */
const CREATED = { response: transactionSchema, failures: providerFailures };

/** A `Failed` transaction is an answer, not an error. */
export const TRANSACTIONS = {
  /** Authorizes an amount on a card. */
  createAuthorization: postForBuyer('/payments/{paymentId}/authorizations', {
    request: authorizationRequestSchema,
    ...CREATED,
  }),
  getAuthorization: read(
    '/payments/{paymentId}/authorizations/{authorizationId}',
    'authorizationId',
    transactionSchema,
  ),
  listAuthorizations: list('/payments/{paymentId}/authorizations', transactionSchema),

  /** Authorizes and captures in one step. */
  createCharge: postForBuyer('/payments/{paymentId}/charges', { request: chargeRequestSchema, ...CREATED }),
  getCharge: read('/payments/{paymentId}/charges/{chargeId}', 'chargeId', transactionSchema),
  listCharges: list('/payments/{paymentId}/charges', transactionSchema),

  /** Captures an authorization: the whole amount, or `amount`. */
  createCapture: post('/payments/{paymentId}/captures', { request: captureRequestSchema, ...CREATED }),
  getCapture: read('/payments/{paymentId}/captures/{captureId}', 'captureId', transactionSchema),
  listCaptures: list('/payments/{paymentId}/captures', transactionSchema),

  /** Refunds a settled capture: the whole amount, or `amount`. */
  createRefund: post('/payments/{paymentId}/refunds', { request: refundRequestSchema, ...CREATED }),
  getRefund: read('/payments/{paymentId}/refunds/{refundId}', 'refundId', transactionSchema),
  listRefunds: list('/payments/{paymentId}/refunds', transactionSchema),

  /** Voids a transaction that has not settled, usually an authorization. */
  createVoid: post('/payments/{paymentId}/voids', { request: voidRequestSchema, ...CREATED }),
  getVoid: read('/payments/{paymentId}/voids/{voidId}', 'voidId', transactionSchema),
  listVoids: list('/payments/{paymentId}/voids', transactionSchema),

  /** Sends money to a card without an earlier transaction. */
  createCredit: post('/payments/{paymentId}/credits', { request: chargeRequestSchema, ...CREATED }),
  getCredit: read('/payments/{paymentId}/credits/{creditId}', 'creditId', transactionSchema),
  listCredits: list('/payments/{paymentId}/credits', transactionSchema),
} as const;
