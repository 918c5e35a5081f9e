import { z } from 'zod';
import { uuidSchema } from '../../contract/fields.js';
import { payerBirthdaySchema } from '../../contract/risk.js';
import { RISK_DECISIONS } from '../../contract/statuses.js';
import {
  answerObject,
  cardNumber,
  countryOf,
  expirationDate,
  type FieldsOf,
  installments,
  lenientNumber,
  lenientText,
  stringMap,
  text,
} from '../fields.js';
import { providerFailures } from '../http/errors.js';
import { list, postForBuyer, read } from '../http/operation.js';
import { perVersion } from '../versions.js';
import { toWireNames } from '../wire.js';
import { providerDataOf } from './provider-data.js';
import { SOURCE_TYPES } from './tokens.js';
import { type Transaction, transactionFields } from './transactions.js';

const tokenized = z.strictObject({ type: z.literal('tokenized'), token: uuidSchema.zod });

/** Complete or partial card data. Only merchants under PCI DSS SAQ D may send unencrypted cards. */
const untokenized = z.strictObject({
  type: z.literal('untokenized'),
  // The service's documented example of a risk analysis uses `credit card`.
  sourceType: z.enum([...SOURCE_TYPES, 'credit card']),
  cardNumber: cardNumber.optional(),
  binNumber: z
    .string()
    .regex(/^\d{4,8}$/, { error: 'is not a BIN of 4 to 8 digits' })
    .optional(),
  last4Digits: z
    .string()
    .regex(/^\d{4}$/, { error: 'is not the last 4 digits of a card' })
    .optional(),
  holderName: text.optional(),
  expirationDate: expirationDate.optional(),
});

/** Only these fields are accepted by the risk provider. */
const riskDetails = z.strictObject({
  productDescExtra1: text.optional(),
  productDescExtra2: text.optional(),
  productDescExtra3: text.optional(),
  payerBirthday: payerBirthdaySchema.zod.optional(),
});

/** Renames the fields here, because `providerSpecificData` is sent unchanged. */
const riskProvider = z
  .strictObject({ additionalDetails: riskDetails.optional() })
  .transform(({ additionalDetails: details }) =>
    details === undefined ? {} : { additional_details: toWireNames(details) },
  );

/** Body of Create Risk Analysis. All fields and the body are optional. */
export const riskAnalysisRequestSchema = perVersion((rules) =>
  z
    .strictObject({
      /** The transaction that will follow, such as `charge`. */
      transactionType: text.optional(),
      paymentMethod: z
        .discriminatedUnion('type', [tokenized, untokenized], {
          error: 'is neither "tokenized" nor "untokenized"',
        })
        .optional(),
      sessionId: text.optional(),
      deviceId: text.optional(),
      merchant: z
        .strictObject({
          mcc: z
            .string()
            .regex(/^\d{4}$/, { error: 'is not a merchant category code of 4 digits' })
            .optional(),
          merchantName: text.optional(),
          merchantCountryCode: countryOf(rules).optional(),
          merchantEmail: text.optional(),
          merchantZipCode: text.optional(),
          merchantCity: text.optional(),
        })
        .optional(),
      acquirer: z
        .strictObject({ acquirerId: text.optional(), acquirerCountryCode: countryOf(rules).optional() })
        .optional(),
      installments: installments.optional(),
      authorizationCode: text.optional(),
      cvvVerificationCode: text.optional(),
      threeDSecureAuthenticationStatus: text.optional(),
      /** Keys and values are sent unchanged. */
      additionalDetails: stringMap.optional(),
      /** Keyed by the risk provider's identifier, which ends in `_risk`. */
      providerSpecificData: z
        .record(z.string().regex(/_risk$/), riskProvider, {
          error: (issue) =>
            issue.code === 'invalid_key' ? 'is not the identifier of a risk provider, which ends in _risk' : undefined,
        })
        .optional(),
    })
    .prefault({}),
);
export type RiskAnalysisRequest = NonNullable<z.input<ReturnType<typeof riskAnalysisRequestSchema>>>;

const verdictFields = {
  /** Strict: an unknown decision must not be read as no decision. */
  decision: z
    .enum(RISK_DECISIONS)
    .nullish()
    .transform((decision) => decision ?? undefined),
  score: lenientNumber,
};
const analysisFields = { transactionType: lenientText };

/** `status` follows the decision: `Succeed` for `approve`, `Pending` for `review`, `Failed` for `decline`. */
export interface RiskAnalysis extends Transaction, FieldsOf<typeof verdictFields>, FieldsOf<typeof analysisFields> {}
const riskAnalysisSchema: z.ZodType<RiskAnalysis> = answerObject({
  ...transactionFields,
  ...analysisFields,
  providerData: providerDataOf({ riskAnalysesResult: answerObject(verdictFields).nullish() }).nullish(),
}).transform(({ id, result, providerData, ...own }) => {
  const { riskAnalysesResult, ...ofProvider } = providerData ?? {};
  return { id, ...result, ...own, ...ofProvider, ...riskAnalysesResult };
});

export const RISK_ANALYSES = {
  /** Gets a score and a decision for an initiated or authorized payment. Below API version 1.3.0 the service has been seen to refuse it. */
  createRiskAnalysis: postForBuyer('/payments/{paymentId}/risk-analyses', {
    pays: false,
    request: riskAnalysisRequestSchema,
    response: riskAnalysisSchema,
    failures: providerFailures,
  }),
  getRiskAnalysis: read('/payments/{paymentId}/risk-analyses/{riskAnalysisId}', 'riskAnalysisId', riskAnalysisSchema),
  listRiskAnalyses: list('/payments/{paymentId}/risk-analyses', riskAnalysisSchema),
} as const;
