import { z } from 'zod';
import { TRANSACTION_STATUSES } from '../../contract/statuses.js';
import type { TransactionStatus } from '../../contract/statuses.js';
import {
  address,
  compact,
  id,
  jsonMap,
  note,
  noteOf,
  optionalAmount,
  optionalText,
  stringMap,
  time,
} from './fields.js';
import { paymentMethodSchema } from './payment-methods.js';
import type { PaymentMethod } from './payment-methods.js';

/** Something to show the buyer, such as a voucher to pay in cash with. */
export interface TransactionDocument {
  href?: string;
  descriptor?: string;
  contentType?: string;
  content?: string;
}

/** An authorization, capture, charge, credit, void or refund. Raw provider texts are left out. */
export interface Transaction {
  id: string;
  /** `Pending` for any word that the interface does not name: nobody may take that for an end. */
  status: TransactionStatus;
  /** That word. */
  unknownStatus?: string;
  category?: string;
  subCategory?: string;
  description?: string;
  /** Minor units. Absent on voids, and at API version 1.0.0 where the currency is not known. */
  amount?: number;
  /** Often absent: the payment has it. */
  currency?: string;
  reconciliationId?: string;
  additionalDetails?: Record<string, string>;
  paymentMethod?: PaymentMethod;
  providerName?: string;
  responseCode?: string;
  providerDescription?: string;
  authorizationCode?: string;
  /** The provider's own id of this transaction. */
  providerTransactionId?: string;
  externalId?: string;
  /** Consent id for card on file. */
  networkTransactionId?: string;
  avsCode?: string;
  cvvVerificationCode?: string;
  documents?: TransactionDocument[];
  /** Whatever the provider adds. */
  additionalInformation?: Record<string, unknown>;
  /** Texts that a provider has under names of its own. Never its raw response. */
  providerFields?: Record<string, string>;
  /** `url` is where to send the buyer. */
  redirection?: { url: string; id?: string };
  ipAddress?: string;
  /** ISO 3166-1 alpha-3. */
  originatingPurchaseCountry?: string;
  /** Refunds only. */
  captureId?: string;
  /** Refunds only. */
  reason?: string;
  /** Epoch ms as text. */
  created?: string;
}

export const providerDataFields = {
  provider_name: note,
  response_code: note,
  description: note,
  authorization_code: note,
  transaction_id: note,
  external_id: note,
  network_transaction_id: note,
  avs_code: note,
  cvv_verification_code: note,
  additional_information: jsonMap,
  documents: noteOf(z.array(z.object({ href: note, descriptor: note, content_type: note, content: note }))),
};

export const transactionFields = {
  id,
  created: time,
  amount: optionalAmount,
  currency: optionalText,
  reconciliation_id: optionalText,
  additional_details: stringMap,
  result: z.object({
    status: z.string(),
    category: optionalText,
    sub_category: optionalText,
    description: note,
  }),
  payment_method: noteOf(paymentMethodSchema),
  provider_data: noteOf(z.looseObject(providerDataFields)),
  redirection: noteOf(z.object({ url: address, id: note })),
  ip_address: note,
  originating_purchase_country: note,
  capture_id: optionalText,
  reason: note,
};
const shape = z.object(transactionFields);

export function readTransaction(wire: z.output<typeof shape>): Transaction {
  const { result, provider_data: provider } = wire;
  return compact<Transaction>({
    id: wire.id,
    ...statusOf(result.status),
    category: result.category,
    subCategory: result.sub_category,
    description: result.description,
    amount: wire.amount,
    currency: wire.currency,
    reconciliationId: wire.reconciliation_id,
    additionalDetails: wire.additional_details,
    paymentMethod: wire.payment_method,
    providerName: provider?.provider_name,
    responseCode: provider?.response_code,
    providerDescription: provider?.description,
    authorizationCode: provider?.authorization_code,
    providerTransactionId: provider?.transaction_id,
    externalId: provider?.external_id,
    networkTransactionId: provider?.network_transaction_id,
    avsCode: provider?.avs_code,
    cvvVerificationCode: provider?.cvv_verification_code,
    documents: documentsOf(provider?.documents),
    additionalInformation: provider?.additional_information,
    providerFields: otherTexts(provider),
    redirection: wire.redirection && compact<{ url: string; id?: string }>(wire.redirection),
    ipAddress: wire.ip_address,
    originatingPurchaseCountry: wire.originating_purchase_country,
    captureId: wire.capture_id,
    reason: wire.reason,
    created: wire.created,
  });
}

/** The transaction is there, whatever it is called: refused for its word, it would hide itself and the rest of its list. */
function statusOf(word: string): { status: TransactionStatus; unknownStatus: string | undefined } {
  const status = TRANSACTION_STATUSES.find((known) => known === word);
  return { status: status ?? 'Pending', unknownStatus: status !== undefined || word === '' ? undefined : word };
}

type DocumentWire = NonNullable<NonNullable<z.output<typeof shape>['provider_data']>['documents']>;

/** A document with neither link nor content is of no use. */
function documentsOf(wire: DocumentWire | undefined): TransactionDocument[] | undefined {
  const found = (wire ?? []).flatMap(({ href, descriptor, content_type: contentType, content }) =>
    href === undefined && content === undefined
      ? []
      : [compact<TransactionDocument>({ href, descriptor, contentType, content })],
  );
  return found.length === 0 ? undefined : found;
}

const RAW = 'raw_response';
const LONGEST_FIELD = 255;

function otherTexts(provider: Record<string, unknown> | undefined): Record<string, string> | undefined {
  const found = Object.entries(provider ?? {}).filter(
    (entry): entry is [string, string] =>
      typeof entry[1] === 'string' &&
      entry[1].length <= LONGEST_FIELD &&
      entry[0] !== RAW &&
      !Object.hasOwn(providerDataFields, entry[0]),
  );
  return found.length === 0 ? undefined : Object.fromEntries(found);
}

export const transactionSchema: z.ZodType<Transaction> = shape.transform(readTransaction);

/** A list is strict as a whole: an entry dropped in silence would look like a transaction that never was. */
export const transactionListSchema: z.ZodType<Transaction[]> = z.array(transactionSchema);
