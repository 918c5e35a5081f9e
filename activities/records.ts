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

/**
 * The id by which later transactions name the consent. Its field can differ by provider: a unit says which, by the
 * provider's name or by `*` for any other; `additional_information.<name>` is one inside of that object.
 */
export function consentIdOf(data: Transaction, fields: Readonly<Record<string, string>> = {}): string | undefined {
  const field = fields[data.providerName ?? ''] ?? fields['*'];
  if (field === undefined || field === 'network_transaction_id') return data.networkTransactionId;
  const [name = '', inner] = field.split('.');
  const value = inner === undefined ? data.providerFields?.[name] : data.additionalInformation?.[inner];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Bytes in UTF-8 of what a history keeps of one text. */
const MOST_BYTES = 1024;

/**
 * Texts of the service as a history may keep them (money rule 9): cut to 1 KB, and left out where they hold card data.
 * An answer is never refused for them.
 * @returns the texts, and under `omitted` the names of those that were left out
 */
export function serviceTexts<Name extends string>(
  texts: Readonly<Record<Name, string | undefined>>,
): Partial<Record<Name, string>> & { omitted?: string[] } {
  const given = Object.entries<string | undefined>(texts).filter(
    (entry): entry is [Name, string] => entry[1] !== undefined,
  );
  const omitted = given.filter(([, text]) => holdsCardData(text)).map(([name]) => name);
  const kept = given.filter(([name]) => !omitted.includes(name)).map(([name, text]) => [name, cut(text)]);
  return {
    ...(Object.fromEntries(kept) as Partial<Record<Name, string>>),
    ...(omitted.length > 0 && { omitted }),
  };
}

function cut(text: string): string {
  const bytes = Buffer.from(text);
  // A character that is cut in two is left out as well.
  return bytes.length <= MOST_BYTES
    ? text
    : bytes
        .subarray(0, MOST_BYTES)
        .toString('utf8')
        .replace(/\uFFFD$/, '');
}

/**
 * A record with no text that would keep it from being recorded: the answer to a POST that can't be written down is lost, and
 * each read of it as well. Ids are short by the schema of the answer; what else is long decides nothing.
 */
function bounded<T extends object>(record: T): T {
  const entries = Object.entries(record).map(([name, value]): [string, unknown] => [
    name,
    // Half an address is of no use; the schema has left out a longer one.
    typeof value === 'string' && name !== 'redirectUrl' ? cut(value) : value,
  ]);
  return Object.fromEntries(entries) as T;
}
