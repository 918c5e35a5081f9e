import { z } from 'zod';
import {
  answerObject,
  type FieldsOf,
  lenient,
  lenientSum,
  lenientText,
  lenientTime,
  strictId,
  strictUrl,
} from '../fields.js';
import { list, read } from '../http/operation.js';

const redirectionFields = {
  id: strictId,
  /** Address to which the buyer is redirected. */
  url: strictUrl,
  /** Address to which the buyer returns. */
  merchantSiteUrl: lenientText,
  /** Epoch ms as text. */
  created: lenientTime,
};
/** Page that a buyer must visit before a transaction can end. */
export interface Redirection extends FieldsOf<typeof redirectionFields> {}
export const redirectionSchema: z.ZodType<Redirection> = answerObject(redirectionFields);

const supportedPaymentMethodFields = {
  displayName: lenientText,
  vendor: lenientText,
  sourceType: lenientText,
  /** `available`, `temporarily_unavailable`, `disabled` or another one. */
  status: lenientText,
  /** ISO 3166-1 alpha-3, at every API version. */
  country: lenientText,
  logoUrl: lenientText,
  bankCode: lenientText,
  /** Amount limits in minor units. */
  amounts: lenient(z.array(answerObject({ currency: lenientText, min: lenientSum, max: lenientSum }))),
};
export interface SupportedPaymentMethod extends FieldsOf<typeof supportedPaymentMethodFields> {}
const supportedPaymentMethodSchema: z.ZodType<SupportedPaymentMethod> = answerObject(supportedPaymentMethodFields);

const providerPaymentMethodsFields = {
  configurationId: lenientText,
  configurationName: lenientText,
  providerId: lenientText,
  providerName: lenientText,
  /** Whether the provider answered: `Succeed` or `Failed`. */
  status: lenient(answerObject({ status: lenientText })).transform((result) => result?.status),
  paymentMethods: z
    .array(supportedPaymentMethodSchema)
    .nullish()
    .transform((methods) => methods ?? []),
};
/** Payment methods of one provider configuration of the business unit. */
export interface ProviderPaymentMethods extends FieldsOf<typeof providerPaymentMethodsFields> {}
const providerPaymentMethodsSchema: z.ZodType<ProviderPaymentMethods> = answerObject(providerPaymentMethodsFields, {
  status: 'result',
  paymentMethods: 'supported_payment_methods',
});

export const LOOKUPS = {
  getRedirection: read('/payments/{paymentId}/redirections/{redirectionId}', 'redirectionId', redirectionSchema),
  listRedirections: list('/payments/{paymentId}/redirections', redirectionSchema),
  /** Lists the payment methods of each provider configuration of the business unit. */
  listSupportedPaymentMethods: list('/supported-payment-methods', providerPaymentMethodsSchema),
} as const;
