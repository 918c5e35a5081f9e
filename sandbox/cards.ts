import { createHash, randomUUID } from 'node:crypto';
import { notFound } from './api-error.js';
import { storedMethodView } from './card-views.js';
import type { CardFields, MockOutcome, BusinessUnit, Customer, JsonObject, Token } from './records.js';
import type { Call } from './route.js';
import { echoesDetails, withoutUndefined, type ViewContext } from './view-context.js';
import { showAddress } from './wire-fields.js';

/** The documented mock triggers. Any other card that passes the Luhn check succeeds. */
const TRIGGERS: ReadonlyMap<string, MockOutcome> = new Map(
  (
    [
      [
        'failed',
        '4242424242424242 4000056655665556 5555555555554444 5200828282828210 ' +
          '378282246310005 6011111111111117 30569309025904 3530111333300000',
      ],
      [
        'pending_succeed',
        '4000000000000077 5105105105105100 371449635398431 6011000990139424 38520000023237 3566002020360505',
      ],
      ['pending_failed', '4000000400000008 5454545454545454'],
    ] as const
  ).flatMap(([outcome, numbers]) => numbers.split(' ').map((number) => [number, outcome] as const)),
);

const VENDORS: readonly (readonly [RegExp, string])[] = [
  [/^4/, 'VISA'],
  [/^(5[1-5]|2[2-7])/, 'MASTERCARD'],
  [/^3[47]/, 'AMERICAN EXPRESS'],
  [/^(6011|65|64[4-9])/, 'DISCOVER'],
  [/^3[068]/, 'DINERS CLUB'],
  [/^35/, 'JCB'],
];

const KNOWN_BINS: Readonly<Record<string, { issuer: string; level: string; country_code: string }>> = {
  '411111': { issuer: 'JPMORGAN CHASE BANK, N.A.', level: '', country_code: 'USA' },
  '378282': { issuer: 'AMERICAN EXPRESS US (CARS)', level: 'CORPORATE', country_code: 'USA' },
  '401288': { issuer: 'PJSC CREDIT AGRICOLE BANK', level: 'INFINITE', country_code: 'UKR' },
};

export function mockOutcome(cardNumber: string): MockOutcome {
  return TRIGGERS.get(cardNumber) ?? (passesLuhn(cardNumber) ? 'succeed' : 'invalid_card');
}

/** Returns the fields of a card that answers may show. `expirationDate` is already in the form MM/YYYY. */
export function cardFields(cardNumber: string, holderName: string, expirationDate: string | undefined): CardFields {
  const bin = cardNumber.slice(0, 6);
  const known = KNOWN_BINS[bin] ?? { issuer: '', level: '', country_code: 'USA' };
  return {
    holder_name: holderName,
    ...(expirationDate === undefined ? {} : { expiration_date: expirationDate }),
    last_4_digits: cardNumber.slice(-4),
    pass_luhn_validation: passesLuhn(cardNumber),
    bin_number: bin,
    vendor: VENDORS.find(([prefix]) => prefix.test(cardNumber))?.[1] ?? '',
    issuer: known.issuer,
    card_type: 'CREDIT',
    level: known.level,
    country_code: known.country_code,
  };
}

/** A UUID that is equal for equal card numbers. It is salted, so that the number can't be derived from it. */
export function fingerprint(cardNumber: string, salt: string): string {
  const hex = createHash('sha256').update(`${salt}:${cardNumber}`).digest('hex');
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`, hex.slice(20, 32)].join(
    '-',
  );
}

/** Returns MM/YYYY for any documented spelling (`1/27`, `01-2027`, `01.27`, `01 2027`), undefined for other texts. */
export function normalizeExpirationDate(text: string): string | undefined {
  const match = /^(0?[1-9]|1[0-2])[/\-. ](\d{2}|\d{4})$/.exec(text);
  if (match === null) return undefined;
  const [, month = '', year = ''] = match;
  return `${month.padStart(2, '0')}/${year.length === 2 ? `20${year}` : year}`;
}

function passesLuhn(cardNumber: string): boolean {
  let sum = 0;
  for (let i = 0; i < cardNumber.length; i++) {
    const digit = Number(cardNumber[cardNumber.length - 1 - i]);
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

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
