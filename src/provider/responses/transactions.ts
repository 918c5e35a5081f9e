import { z } from 'zod';
import { TRANSACTION_STATUSES } from '../../contract/statuses.js';
import type { TransactionStatus } from '../../contract/statuses.js';
import { compact, id, note, noteOf, optionalAmount, optionalText, stringMap, time } from './fields.js';
import { paymentMethodSchema } from './payment-methods.js';
import type { PaymentMethod } from './payment-methods.js';

/** Something to show the buyer, such as a voucher to pay in cash with. */
export interface TransactionDocument {
  href: string;
  descriptor?: string;
  contentType?: string;
}

/** An authorization, capture, charge, credit, void or refund. Raw provider texts are left out. */
export interface Transaction {
  id: string;
  status: TransactionStatus;
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
  documents: noteOf(z.array(z.object({ href: note, descriptor: note, content_type: note }))),
};

export const transactionFields = {
  id,
  created: time,
  amount: optionalAmount,
  currency: optionalText,
  reconciliation_id: optionalText,
  additional_details: stringMap,
  result: z.object({
    status: z.enum(TRANSACTION_STATUSES),
    category: optionalText,
    sub_category: optionalText,
    description: note,
  }),
  payment_method: noteOf(paymentMethodSchema),
  provider_data: noteOf(z.object(providerDataFields)),
  redirection: noteOf(z.object({ url: z.string().min(1), id: note })),
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
    status: result.status,
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
    redirection: wire.redirection && compact<{ url: string; id?: string }>(wire.redirection),
    ipAddress: wire.ip_address,
    originatingPurchaseCountry: wire.originating_purchase_country,
    captureId: wire.capture_id,
    reason: wire.reason,
    created: wire.created,
  });
}

type DocumentWire = NonNullable<NonNullable<z.output<typeof shape>['provider_data']>['documents']>;

/** A document without a link is of no use: its content is left out, since it can be of any size. */
function documentsOf(wire: DocumentWire | undefined): TransactionDocument[] | undefined {
  const found = (wire ?? []).flatMap(({ href, descriptor, content_type: contentType }) =>
    href === undefined ? [] : [compact<TransactionDocument>({ href, descriptor, contentType })],
  );
  return found.length === 0 ? undefined : found;
}

export const transactionSchema: z.ZodType<Transaction> = shape.transform(readTransaction);

/** A list is strict as a whole: an entry dropped in silence would look like a transaction that never was. */
export const transactionListSchema: z.ZodType<Transaction[]> = z.array(transactionSchema);
