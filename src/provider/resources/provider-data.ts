import { z } from 'zod';
import { answerObject, isObject, lenient, lenientJsonMap, lenientText } from '../fields.js';
import type { FieldsOf, WireNames } from '../fields.js';
import { toWireName } from '../wire.js';

const documentFields = {
  href: lenientText,
  descriptor: lenientText,
  contentType: lenientText,
  content: lenientText,
};
/** Something to show the buyer, such as a voucher to pay in cash with. */
export interface TransactionDocument extends FieldsOf<typeof documentFields> {}
const documentSchema: z.ZodType<TransactionDocument> = answerObject(documentFields);

/** A document with neither link nor content is of no use. */
function usefulDocuments(documents: TransactionDocument[]): TransactionDocument[] | undefined {
  const useful = documents.filter(({ href, content }) => href !== undefined || content !== undefined);
  return useful.length === 0 ? undefined : useful;
}

const providerDataFields = {
  providerName: lenientText,
  responseCode: lenientText,
  providerDescription: lenientText,
  authorizationCode: lenientText,
  /** The provider's own id of this transaction. */
  providerTransactionId: lenientText,
  externalId: lenientText,
  /** Consent id for card on file. */
  networkTransactionId: lenientText,
  avsCode: lenientText,
  cvvVerificationCode: lenientText,
  documents: lenient(z.array(documentSchema).transform(usefulDocuments)),
  /** Whatever the provider adds. */
  additionalInformation: lenientJsonMap,
};
export interface ProviderData extends FieldsOf<typeof providerDataFields> {
  /** Texts that a provider has under names of its own. Never its raw response. */
  providerFields?: Record<string, string>;
}

const WIRE_NAMES: WireNames<typeof providerDataFields> = {
  providerDescription: 'description',
  providerTransactionId: 'transaction_id',
};

/** `provider_data`; `own` are the fields of one kind of transaction. */
export function providerDataOf<Own extends z.ZodRawShape>(own: Own): z.ZodType<ProviderData & FieldsOf<Own>> {
  const fields = answerObject({ ...providerDataFields, providerFields: z.custom(), ...own }, WIRE_NAMES);
  return z.preprocess(
    (data) => (isObject(data) ? { ...data, provider_fields: otherTextsOf(data) } : data),
    fields as z.ZodType<ProviderData & FieldsOf<Own>>,
  );
}

const RAW = 'raw_response';
const LONGEST_FIELD = 255;
const READ_BY_NAME: ReadonlySet<string> = new Set(
  Object.keys(providerDataFields).map(
    (name) => WIRE_NAMES[name as keyof typeof providerDataFields] ?? toWireName(name),
  ),
);

function otherTextsOf(data: Record<string, unknown>): Record<string, string> | undefined {
  const found = Object.entries(data).filter(
    (entry): entry is [string, string] =>
      typeof entry[1] === 'string' &&
      entry[1].length <= LONGEST_FIELD &&
      entry[0] !== RAW &&
      !READ_BY_NAME.has(entry[0]),
  );
  return found.length === 0 ? undefined : Object.fromEntries(found);
}
