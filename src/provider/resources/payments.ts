import { z } from 'zod';
import { addressSchema } from './addresses.js';
import type { Address } from './addresses.js';
import { customerSchema } from './customers.js';
import type { Customer } from './customers.js';
import {
  amount,
  compact,
  flag,
  id,
  idOfLink,
  jsonMap,
  note,
  noteOf,
  numberNote,
  optionalText,
  priceNote,
  stringMap,
  sumNote,
  time,
} from './fields.js';
import { redirectionSchema } from './redirections.js';
import type { Redirection } from './redirections.js';
import { transactionSchema } from './transactions.js';
import type { Transaction } from './transactions.js';

export interface PossibleNextAction {
  action: string;
  href?: string;
}

/** A related transaction that was not asked for with `expand`. */
export interface ResourceLink {
  href: string;
}

/** Sums are minor units. */
export interface Order {
  id?: string;
  additionalDetails?: Record<string, string>;
  taxAmount?: number;
  taxPercentage?: number;
  subTotal?: number;
  lineItems?: LineItem[];
}

export interface LineItem {
  id?: string;
  name?: string;
  description?: string;
  quantity?: number;
  /** Minor units. */
  unitPrice?: number;
}

export interface Payment {
  id: string;
  /** Minor units. */
  amount: number;
  currency: string;
  /** `Initialized`, `Pending`, `Authorized`, `Captured`, `Refunded`, `Voided`; others may come. */
  /** Absent where the service does not say. */
  status?: string;
  /** Epoch ms as text. */
  created?: string;
  /** Epoch ms as text. */
  modified?: string;
  customerId?: string;
  /** Whole only with `expand`. */
  customer?: Customer;
  statementSoftDescriptor?: string;
  additionalDetails?: Record<string, string>;
  order?: Order;
  billingAddress?: Address;
  shippingAddress?: Address;
  /** As it came. */
  addendums?: Record<string, unknown>;
  isChargedback?: boolean;
  isDisputed?: boolean;
  possibleNextActions?: PossibleNextAction[];
  /** Transactions by kind (`charges`, `refunds`, ...): whole with `expand`, else links. A kind that is absent is not known. */
  relatedResources?: RelatedResources;
}

export const RELATED_KINDS = ['authorizations', 'charges', 'captures', 'refunds', 'voids', 'credits'] as const;
export type RelatedKind = (typeof RELATED_KINDS)[number];

export type RelatedResources = Partial<Record<RelatedKind, (Transaction | ResourceLink)[]>> & {
  redirections?: (Redirection | ResourceLink)[];
};

const lineItemSchema: z.ZodType<LineItem> = z
  .object({ id: note, name: note, description: note, quantity: numberNote, unit_price: priceNote })
  .transform(({ unit_price: unitPrice, ...same }) => compact<LineItem>({ ...same, unitPrice }));

const orderSchema: z.ZodType<Order> = z
  .object({
    id: note,
    additional_details: stringMap,
    tax_amount: sumNote,
    tax_percentage: numberNote,
    sub_total: sumNote,
    line_items: noteOf(z.array(lineItemSchema)),
  })
  .transform((wire) =>
    compact<Order>({
      id: wire.id,
      additionalDetails: wire.additional_details,
      taxAmount: wire.tax_amount,
      taxPercentage: wire.tax_percentage,
      subTotal: wire.sub_total,
      lineItems: wire.line_items,
    }),
  );

const link = z.object({ href: z.string().min(1), result: z.undefined().optional() });

/** The form without `expand` is not documented. A list with anything unreadable is left out whole: not known, not empty. */
function listOf<T extends object>(whole: z.ZodType<T>) {
  const entry = z.union([whole, link.transform(({ href }): ResourceLink => ({ href }))]);
  return noteOf(z.array(entry));
}

const related = listOf(transactionSchema);
const relatedResources: z.ZodType<RelatedResources> = z
  .object({
    authorizations: related,
    charges: related,
    captures: related,
    refunds: related,
    voids: related,
    credits: related,
    redirections: listOf(redirectionSchema),
  })
  .transform((wire) =>
    compact<RelatedResources>({
      authorizations: wire.authorizations,
      charges: wire.charges,
      captures: wire.captures,
      refunds: wire.refunds,
      voids: wire.voids,
      credits: wire.credits,
      redirections: wire.redirections,
    }),
  );

const wholeCustomer = customerSchema.transform((whole): CustomerPart => ({ id: whole.id, whole }));
const customerLink = z
  .object({ id: note, href: note })
  .transform(({ id: own, href }): CustomerPart => ({ id: own ?? idOfLink(href), whole: undefined }));
interface CustomerPart {
  id: string | undefined;
  whole: Customer | undefined;
}

export const paymentSchema: z.ZodType<Payment> = z
  .object({
    id,
    amount,
    currency: z.string().min(1),
    status: optionalText,
    created: time,
    modified: time,
    customer: noteOf(z.union([wholeCustomer, customerLink])),
    statement_soft_descriptor: note,
    additional_details: stringMap,
    order: noteOf(orderSchema),
    billing_address: noteOf(addressSchema),
    shipping_address: noteOf(addressSchema),
    addendums: jsonMap,
    is_chargedback: flag,
    is_disputed: flag,
    possible_next_actions: noteOf(z.array(z.object({ action: z.string(), href: note }))),
    related_resources: noteOf(relatedResources),
  })
  .transform((wire) =>
    compact<Payment>({
      id: wire.id,
      amount: wire.amount,
      currency: wire.currency,
      status: wire.status,
      created: wire.created,
      modified: wire.modified,
      customerId: wire.customer?.id,
      customer: wire.customer?.whole,
      statementSoftDescriptor: wire.statement_soft_descriptor,
      additionalDetails: wire.additional_details,
      order: wire.order,
      billingAddress: wire.billing_address,
      shippingAddress: wire.shipping_address,
      addendums: wire.addendums,
      isChargedback: wire.is_chargedback,
      isDisputed: wire.is_disputed,
      possibleNextActions: wire.possible_next_actions?.map(({ action, href }) =>
        compact<PossibleNextAction>({ action, href }),
      ),
      relatedResources: wire.related_resources,
    }),
  );
