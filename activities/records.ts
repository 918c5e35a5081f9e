import { holdsCardData } from '../src/contract/card-data.js';
import { WIRE_DETAILS } from '../src/contract/names.js';
import type {
  CustomerRecord,
  PaymentMethodRecord,
  PaymentRecord,
  RiskAnalysisRecord,
  TransactionRecord,
} from '../src/contract/records.js';
import type {
  Customer,
  Payment,
  ProviderAnswer,
  RiskAnalysis,
  StoredPaymentMethod,
  Token,
  Transaction,
} from '../src/provider/index.js';
import type { UnitTerms } from './read-call.js';
import { cardDates, isoOf, transactionDetails } from './transaction-details.js';

/** A longer consent id is left out: a truncated one names nothing. */
const LONGEST_ID = 255;

/** Keeps only the fields that flows rely on: a history must not hold raw answers. */
export function paymentRecord({ data, requestId }: ProviderAnswer<Payment>): PaymentRecord {
  return bounded({
    paymentId: data.id,
    amount: data.amount,
    currency: data.currency,
    status: data.status ?? 'unknown',
    ...(requestId !== undefined && { requestId }),
  });
}

/** The parts of an answer that a record is made of. */
interface Answered<Data> {
  data: Data;
  requestId?: string | undefined;
}

/** The record of a payment that was read, with the next actions that the service offers. */
export function readPaymentRecord(answer: ProviderAnswer<Payment>): PaymentRecord {
  const nextActions = answer.data.possibleNextActions?.map(({ action }) => action.slice(0, 50)).slice(0, 50);
  const workflowId = answer.data.additionalDetails?.[WIRE_DETAILS.workflowId];
  return bounded({
    ...paymentRecord(answer),
    ...(nextActions !== undefined && { nextActions }),
    ...(workflowId !== undefined && { holdfastWorkflowId: workflowId }),
    ...((answer.data.isChargedback === true || answer.data.isDisputed === true) && { disputed: true as const }),
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
    // Free text of the service or a provider could carry a card number into a history.
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

/** A longer text is not a status. */
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

export function customerRecord({ data, requestId }: Answered<Customer>): CustomerRecord {
  return bounded({
    customerId: data.id,
    customerReference: data.customerReference,
    ...(data.email !== undefined && { hasEmail: true as const }),
    ...(requestId !== undefined && { requestId }),
  });
}

export function paymentMethodRecord({ data, requestId }: Answered<StoredPaymentMethod | Token>): PaymentMethodRecord {
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
 * Returns the id by which later transactions name the consent. Its field differs by provider: a unit sets it for a
 * provider's name, or for any other by `*`. `additional_information.<name>` is a field inside that object.
 */
export function consentIdOf(data: Transaction, fields: Readonly<Record<string, string>> = {}): string | undefined {
  const { providerName = '' } = data;
  const field = Object.hasOwn(fields, providerName) ? fields[providerName] : fields['*'];
  if (field === undefined || field === 'network_transaction_id') return data.networkTransactionId;
  const [name = '', inner] = field.split('.');
  const value = inner === undefined ? data.providerFields?.[name] : data.additionalInformation?.[inner];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Most UTF-8 bytes that a history keeps of one text. */
const MOST_BYTES = 1024;

/**
 * Prepares texts of the service for a history: cuts them to 1 KB and leaves out those with card data. An answer is
 * never refused for them (money rule 9).
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
  // Drop a character that was cut in two.
  return bytes.length <= MOST_BYTES
    ? text
    : bytes
        .subarray(0, MOST_BYTES)
        .toString('utf8')
        .replace(/\uFFFD$/, '');
}

/**
 * Cuts the texts of a record, since the answer to a POST that is too large to record is lost, and so is each read of
 * it. The answer's schema keeps ids short; no other long text decides anything.
 */
function bounded<T extends object>(record: T): T {
  const entries = Object.entries(record).map(([name, value]): [string, unknown] => [
    name,
    // A truncated URL is useless; the schema has left out longer ones.
    typeof value === 'string' && name !== 'redirectUrl' ? cut(value) : value,
  ]);
  return Object.fromEntries(entries) as T;
}
