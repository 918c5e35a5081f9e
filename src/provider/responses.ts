import { z } from 'zod';
import { TRANSACTION_STATUSES } from '../contract/statuses.js';
import type { TransactionStatus } from '../contract/statuses.js';
import { amount, compact, id, note, optionalAmount, optionalText, stringMap, time } from './response-fields.js';

export interface PossibleNextAction {
  action: string;
  href?: string;
}

/** A related transaction that was not asked for with `expand`. */
export interface ResourceLink {
  href: string;
}

export interface Payment {
  id: string;
  /** Minor units. */
  amount: number;
  currency: string;
  /** `Initialized`, `Pending`, `Authorized`, `Captured`, `Refunded`, `Voided`; others may come. */
  status: string;
  /** Epoch ms as text. */
  created?: string;
  /** Epoch ms as text. */
  modified?: string;
  customerId?: string;
  statementSoftDescriptor?: string;
  additionalDetails?: Record<string, string>;
  possibleNextActions?: PossibleNextAction[];
  /** Transactions by kind (`charges`, `refunds`, ...): whole with `expand`, else links. A kind that is absent is not known. */
  relatedResources?: Partial<Record<RelatedKind, (Transaction | ResourceLink)[]>>;
}

/** An authorization, capture, charge, credit, void or refund. Card data and raw provider texts are left out. */
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
  providerName?: string;
  responseCode?: string;
  providerDescription?: string;
  authorizationCode?: string;
  externalId?: string;
  networkTransactionId?: string;
  redirection?: { url: string };
  /** Epoch ms as text. */
  created?: string;
}

export const RELATED_KINDS = ['authorizations', 'charges', 'captures', 'refunds', 'voids', 'credits'] as const;
export type RelatedKind = (typeof RELATED_KINDS)[number];

export const transactionSchema: z.ZodType<Transaction> = z
  .object({
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
    provider_data: z
      .object({
        provider_name: note,
        response_code: note,
        description: note,
        authorization_code: note,
        external_id: note,
        network_transaction_id: note,
      })
      .optional()
      .catch(undefined),
    redirection: z
      .object({ url: z.string().min(1) })
      .optional()
      .catch(undefined),
  })
  .transform((wire) =>
    compact<Transaction>({
      id: wire.id,
      status: wire.result.status,
      category: wire.result.category,
      subCategory: wire.result.sub_category,
      description: wire.result.description,
      amount: wire.amount,
      currency: wire.currency,
      reconciliationId: wire.reconciliation_id,
      additionalDetails: wire.additional_details,
      providerName: wire.provider_data?.provider_name,
      responseCode: wire.provider_data?.response_code,
      providerDescription: wire.provider_data?.description,
      authorizationCode: wire.provider_data?.authorization_code,
      externalId: wire.provider_data?.external_id,
      networkTransactionId: wire.provider_data?.network_transaction_id,
      redirection: wire.redirection,
      created: wire.created,
    }),
  );

/** A list is strict as a whole: an entry dropped in silence would look like a transaction that never was. */
export const transactionListSchema: z.ZodType<Transaction[]> = z.array(transactionSchema);

/** The form without `expand` is not documented. A list with anything unreadable is left out whole: not known, not empty. */
const related = z
  .array(z.union([transactionSchema, z.object({ href: z.string().min(1), result: z.undefined().optional() })]))
  .optional()
  .catch(undefined);

export const paymentSchema: z.ZodType<Payment> = z
  .object({
    id,
    amount,
    currency: z.string().min(1),
    status: z.string().min(1),
    created: time,
    modified: time,
    customer: z.object({ id: note, href: note }).optional().catch(undefined),
    statement_soft_descriptor: note,
    additional_details: stringMap,
    possible_next_actions: z
      .array(z.object({ action: z.string(), href: note }))
      .optional()
      .catch(undefined),
    related_resources: z
      .object(Object.fromEntries(RELATED_KINDS.map((kind) => [kind, related])) as Record<RelatedKind, typeof related>)
      .optional()
      .catch(undefined),
  })
  .transform((wire) =>
    compact<Payment>({
      id: wire.id,
      amount: wire.amount,
      currency: wire.currency,
      status: wire.status,
      created: wire.created,
      modified: wire.modified,
      customerId: wire.customer?.id ?? wire.customer?.href?.split('/').at(-1),
      statementSoftDescriptor: wire.statement_soft_descriptor,
      additionalDetails: wire.additional_details,
      possibleNextActions: wire.possible_next_actions?.map(({ action, href }) =>
        compact<PossibleNextAction>({ action, href }),
      ),
      relatedResources: relatedOf(wire.related_resources),
    }),
  );

type RelatedWire = Partial<Record<RelatedKind, z.output<typeof related>>>;

function relatedOf(wire: RelatedWire | undefined): Payment['relatedResources'] {
  if (wire === undefined) return undefined;
  const found: Payment['relatedResources'] = {};
  for (const kind of RELATED_KINDS) {
    const list = wire[kind];
    if (list) found[kind] = list.map((entry) => ('status' in entry ? entry : { href: entry.href }));
  }
  return found;
}
