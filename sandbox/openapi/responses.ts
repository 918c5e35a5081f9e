import { z } from 'zod';
import type { VersionRules } from '../versions.js';

/** Schemas of the answers in the OpenAPI description. Clients must tolerate other fields. */

const text = z.string();
const object = z.looseObject({});
const epoch = z.string().regex(/^\d+$/).meta({ description: 'Epoch milliseconds' });
const amountOf = ({ decimalAmounts }: VersionRules) => (decimalAmounts ? z.number() : z.int());

const result = z.looseObject({
  status: z.enum(['Succeed', 'Failed', 'Pending']),
  category: text.optional(),
  sub_category: text.optional(),
  description: text.optional(),
});
const providerData = z.looseObject({ provider_name: text, response_code: text, description: text, external_id: text });

const redirection = z.looseObject({ id: z.uuid(), created: epoch, merchant_site_url: text, url: text });

const payment = (rules: VersionRules) =>
  z.looseObject({
    id: z.uuid(),
    currency: text,
    created: epoch,
    modified: epoch,
    is_chargedback: z.boolean(),
    status: z.enum(['Initialized', 'Pending', 'Authorized', 'Captured', 'Refunded', 'Voided']),
    amount: amountOf(rules),
    possible_next_actions: z.array(z.looseObject({ action: text, href: text })),
    related_resources: z.record(text, z.array(object)).optional(),
  });

const transaction = (rules: VersionRules) =>
  z.looseObject({
    id: z.uuid(),
    created: epoch,
    result,
    provider_data: providerData,
    provider_configuration: object,
    amount: amountOf(rules).optional(),
    currency: text.optional(),
    payment_method: object.optional(),
    redirection: redirection.optional(),
  });

const riskAnalysis = z.looseObject({
  id: z.uuid(),
  created: epoch,
  result,
  provider_data: providerData.extend({
    risk_analyses_result: z.object({ score: z.int(), decision: z.enum(['approve', 'review', 'decline']) }),
  }),
  provider_configuration: object,
});

const card = z.looseObject({
  token: z.uuid(),
  created: epoch,
  type: z.enum(['tokenized', 'credit_card']),
  state: z.enum(['valid', 'created', 'used', 'assigned']).optional(),
  last_4_digits: text,
  country_code: text,
  pass_luhn_validation: z.boolean(),
});
const storedCard = card.extend({ href: text, customer: text, fingerprint: z.uuid() });

const customer = z.looseObject({
  id: z.uuid(),
  created: epoch,
  modified: epoch,
  customer_reference: text,
  payment_methods: z.array(storedCard).optional(),
});

const supported = z.looseObject({ provider_name: text, supported_payment_methods: z.array(object) });

export const errorSchema = z.object({ category: text, description: text, more_info: text.optional() });

const TRANSACTION = /^(create|get)(Authorization|Charge|Credit|Capture|Refund|Void)$/;
const TRANSACTIONS = /^list(Authorization|Charge|Credit|Capture|Refund|Void)s$/;

/** Returns the schema of an operation's success; undefined if it answers without a body. */
export function responseSchema(operation: string, rules: VersionRules): z.ZodType | undefined {
  if (TRANSACTION.test(operation)) return transaction(rules);
  if (TRANSACTIONS.test(operation)) return z.array(transaction(rules));
  return OTHERS[operation]?.(rules);
}

const OTHERS: Readonly<Record<string, (rules: VersionRules) => z.ZodType>> = {
  createPayment: payment,
  getPayment: payment,
  updatePayment: payment,
  createRiskAnalysis: () => riskAnalysis,
  getRiskAnalysis: () => riskAnalysis,
  listRiskAnalyses: () => z.array(riskAnalysis),
  getRedirection: () => redirection,
  listRedirections: () => z.array(redirection),
  createCustomer: () => customer,
  getCustomer: () => customer,
  updateCustomer: () => customer,
  getCustomerByReference: () => z.array(customer),
  storePaymentMethod: () => storedCard,
  getPaymentMethod: () => storedCard,
  listPaymentMethods: () => z.array(storedCard),
  createToken: () => card,
  getToken: () => card,
  listSupportedPaymentMethods: () => z.array(supported),
};
