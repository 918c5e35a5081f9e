import { randomUUID } from 'node:crypto';
import { notFound } from './api-error.js';
import { storedMethodView } from './card-views.js';
import type { BusinessUnit, Customer, JsonObject, Token } from './records.js';
import type { Call } from './route.js';
import { echoesDetails, withoutUndefined, type ViewContext } from './view-context.js';
import { showAddress } from './wire-fields.js';

/** Most cards that one customer can have. */
export const MOST_STORED_CARDS = 100;

/** The interface description promises any string; only UUIDs were observed. */
export function newCustomerId({ profile }: BusinessUnit): string {
  return profile.reading === 'interface' ? `customer.${randomUUID().replaceAll('-', '')}` : randomUUID();
}

/** Returns the customer of the path. Throws one of the two documented 404s. */
export function customerOfPath(call: Call): Customer {
  const customer = call.sandbox.store.customers.get(call.params['customer_id'] ?? '');
  if (customer === undefined || customer.env !== call.env || customer.appId !== call.unit.appId) throw notFound();
  if (customer.deleted) throw notFound('Customer not found.');
  return customer;
}

export function storedCards({ sandbox }: ViewContext, customer: Customer): Token[] {
  return customer.tokens.flatMap((id) => sandbox.store.tokens.get(id) ?? []);
}

export function customerView(view: ViewContext, customer: Customer): JsonObject {
  const { content } = customer;
  const cards = view.rules.storesCards ? storedCards(view, customer) : [];
  return withoutUndefined({
    id: customer.id,
    created: String(customer.created),
    modified: String(customer.modified),
    customer_reference: customer.reference,
    first_name: content.first_name,
    last_name: content.last_name,
    email: content.email,
    additional_details: echoesDetails(view.unit) ? content.additional_details : undefined,
    shipping_address: showAddress(view.rules, content.shipping_address),
    payment_methods:
      cards.length === 0 && view.unit.profile.reading === 'observed'
        ? undefined
        : cards.map((token) => storedMethodView(view, customer, token)),
  });
}
