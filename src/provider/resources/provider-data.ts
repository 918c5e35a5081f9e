import { z } from 'zod';
import {
  answerObject,
  type FieldsOf,
  isObject,
  lenient,
  lenientJsonMap,
  lenientText,
  type WireNames,
} from '../fields.js';
import { toWireName } from '../wire.js';

const documentFields = {
  href: lenientText,
  descriptor: lenientText,
  contentType: lenientText,
  content: lenientText,
};
/** A document for the buyer, such as a voucher for a cash payment. */
export interface TransactionDocument extends FieldsOf<typeof documentFields> {}
const documentSchema: z.ZodType<TransactionDocument> = answerObject(documentFields);

/** Removes documents without link and content. */
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
  /** Id of the consent for a card on file. */
  networkTransactionId: lenientText,
  avsCode: lenientText,
  cvvVerificationCode: lenientText,
  documents: lenient(z.array(documentSchema).transform(usefulDocuments)),
  /** Additional data of the provider. */
  additionalInformation: lenientJsonMap,
};
export interface ProviderData extends FieldsOf<typeof providerDataFields> {
  /** Texts in provider-specific fields. Never the raw response. */
  providerFields?: Record<string, string>;
}

const WIRE_NAMES: WireNames<typeof providerDataFields> = {
  providerDescription: 'description',
  providerTransactionId: 'transaction_id',
};

/** Schema of `provider_data`; `own` are the additional fields of one kind of transaction. */
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
