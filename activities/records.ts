import { holdsCardData } from '../src/contract/card-data.js';
import { WIRE_DETAILS } from '../src/contract/names.js';
import type { CustomerRecord, PaymentMethodRecord } from '../src/contract/records.js';
import type { PaymentRecord, RiskAnalysisRecord, TransactionRecord } from '../src/contract/transaction.js';
import type {
  Customer,
  Payment,
  ProviderAnswer,
  RiskAnalysis,
  StoredPaymentMethod,
  Token,
  Transaction,
} from '../src/provider/index.js';
import { bounded, serviceTexts } from './service-texts.js';
import { consentIdOf } from './consent-id.js';
import type { UnitTerms } from './deps.js';
import { cardDates, isoOf, transactionDetails } from './transaction-details.js';

/** Half an id is none. */
const LONGEST_ID = 255;

/** What flows rely on, and no more: a history is no place for raw answers. */
export function paymentRecord({ data, requestId }: ProviderAnswer<Payment>): PaymentRecord {
  return bounded({
    paymentId: data.id,
    amount: data.amount,
    currency: data.currency,
    status: data.status ?? 'unknown',
    ...(requestId !== undefined && { requestId }),
  });
}

/** With what the service offers to do next. */
export function readPaymentRecord(answer: ProviderAnswer<Payment>): PaymentRecord {
  const nextActions = answer.data.possibleNextActions?.map(({ action }) => action.slice(0, 50)).slice(0, 50);
  const workflowId = answer.data.additionalDetails?.[WIRE_DETAILS.workflowId];
  return bounded({
    ...paymentRecord(answer),
    ...(nextActions !== undefined && { nextActions }),
    ...(workflowId !== undefined && { holdfastWorkflowId: workflowId }),
  });
}

export function transactionRecord(
  data: Transaction,
  requestId: string | undefined,
  { consentIdFields }: Pick<UnitTerms, 'consentIdFields'> = {},
): TransactionRecord {
  const holdfastKey = data.additionalDetails?.[WIRE_DETAILS.key];
  const consentId = consentIdOf(data, consentIdFields);
  const details = transactionDetails(data);
  return bounded({
    transactionId: data.id,
    status: data.status,
    ...(data.category !== undefined && { category: data.category }),
    ...(data.subCategory !== undefined && { subCategory: data.subCategory }),
    // The service's and a provider's own words: the fields that could carry a card number into a history.
    ...unknownStatus(data),
    ...serviceTexts({ description: data.description }),
    ...(data.amount !== undefined && { amount: data.amount }),
    ...(data.currency !== undefined && { currency: data.currency }),
    ...(data.reconciliationId !== undefined && { reconciliationId: data.reconciliationId }),
    ...(holdfastKey !== undefined && { holdfastKey }),
    ...(data.providerName !== undefined && { provider: data.providerName }),
    ...(data.responseCode !== undefined && { responseCode: data.responseCode }),
    ...(data.redirection !== undefined && { redirectUrl: data.redirection.url }),
    ...(data.captureId !== undefined && { captureId: data.captureId }),
    ...(consentId !== undefined && consentId.length <= LONGEST_ID && { consentTransactionId: consentId }),
    ...(details !== undefined && { details }),
    ...(requestId !== undefined && { requestId }),
  });
}

/** What is longer is no word. */
const LONGEST_WORD = 50;

function unknownStatus({ unknownStatus: word }: Transaction): Pick<TransactionRecord, 'unknownStatus'> {
  if (word === undefined || word.length > LONGEST_WORD || holdsCardData(word)) return {};
  return { unknownStatus: word };
}

export function riskAnalysisRecord(data: RiskAnalysis, requestId: string | undefined): RiskAnalysisRecord {
  return {
    ...transactionRecord(data, requestId),
    ...(data.decision !== undefined && { decision: data.decision }),
    ...(data.score !== undefined && { score: data.score }),
  };
}

export function customerRecord(data: Customer, requestId: string | undefined): CustomerRecord {
  return bounded({
    customerId: data.id,
    customerReference: data.customerReference,
    ...(data.email !== undefined && { hasEmail: true as const }),
    ...(requestId !== undefined && { requestId }),
  });
}

export function paymentMethodRecord(
  data: StoredPaymentMethod | Token,
  requestId: string | undefined,
): PaymentMethodRecord {
  const createdAt = isoOf(data.created);
  const { expirationDate } = cardDates(data);
  return bounded({
    token: data.token,
    ...(data.tokenType !== undefined && { tokenType: data.tokenType }),
    ...(data.state !== undefined && { state: data.state }),
    ...(data.fingerprint !== undefined && { fingerprint: data.fingerprint }),
    ...(data.binNumber !== undefined && { binNumber: data.binNumber }),
    ...(data.last4Digits !== undefined && { last4Digits: data.last4Digits }),
    ...(expirationDate !== undefined && { expirationDate }),
    ...(data.vendor !== undefined && { vendor: data.vendor }),
    ...(data.cardType !== undefined && { cardType: data.cardType }),
    ...(data.countryCode !== undefined && { countryCode: data.countryCode }),
    ...(data.issuer !== undefined && { issuer: data.issuer }),
    ...(data.level !== undefined && { level: data.level }),
    ...(data.passLuhnValidation !== undefined && { passesLuhn: data.passLuhnValidation }),
    ...(createdAt !== undefined && { createdAt }),
    ...('customerId' in data && data.customerId !== undefined && { customerId: data.customerId }),
    ...(requestId !== undefined && { requestId }),
  });
}
