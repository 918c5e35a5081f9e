import { toAlpha2, showAddress } from './wire-fields.js';
import type { Customer, JsonObject, Token } from './records.js';
import type { VersionRules } from './versions.js';
import { echoesDetails, withoutUndefined, type ViewContext } from './view-context.js';

export function tokenView({ rules, unit }: ViewContext, token: Token, encryptedCvv?: string): JsonObject {
  const { card } = token;
  return withoutUndefined({
    token: token.token,
    created: String(token.created),
    pass_luhn_validation: card.pass_luhn_validation,
    ...typesOf(rules),
    state: rules.showsTokenState ? token.state : undefined,
    fingerprint: unit.profile.reading === 'interface' ? token.fingerprint : undefined,
    bin_number: card.bin_number,
    vendor: card.vendor,
    card_type: card.card_type,
    issuer: card.issuer,
    level: card.level,
    country_code: countryCode(rules, card.country_code),
    billing_address: showAddress(rules, token.billingAddress),
    holder_name: card.holder_name,
    expiration_date: card.expiration_date,
    last_4_digits: card.last_4_digits,
    encrypted_cvv: encryptedCvv,
  });
}

/** A card stored with a customer. */
export function storedMethodView(view: ViewContext, customer: Customer, token: Token): JsonObject {
  const customerHref = `${view.sandbox.baseUrl}/customers/${customer.id}`;
  const { card } = token;
  return withoutUndefined({
    href: `${customerHref}/payment-methods/${token.token}`,
    customer: customerHref,
    ...typesOf(view.rules),
    token: token.token,
    created: String(token.created),
    fingerprint: token.fingerprint,
    state: view.rules.showsTokenState ? token.state : undefined,
    additional_details: echoesDetails(view.unit) ? token.additionalDetails : undefined,
    bin_number: card.bin_number,
    vendor: card.vendor,
    issuer: card.issuer,
    card_type: card.card_type,
    level: card.level,
    country_code: countryCode(view.rules, card.country_code),
    holder_name: card.holder_name,
    expiration_date: card.expiration_date,
    last_4_digits: card.last_4_digits,
    pass_luhn_validation: card.pass_luhn_validation,
    billing_address: showAddress(view.rules, token.billingAddress),
  });
}

/** Shows the payment method of a transaction, which is stored in the form of version 1.1.0 and later. */
export function showMethod(rules: VersionRules, method: JsonObject): JsonObject {
  if (!rules.tokenAtRoot || method['type'] !== 'tokenized') return method;
  const { token_type: type, country_code: country, billing_address: address, ...rest } = method;
  return {
    ...rest,
    type,
    country_code: countryCode(rules, String(country)),
    ...(address === undefined ? {} : { billing_address: showAddress(rules, address as JsonObject) }),
  };
}

function typesOf({ tokenAtRoot }: VersionRules): JsonObject {
  return tokenAtRoot ? { type: 'credit_card' } : { token_type: 'credit_card', type: 'tokenized' };
}

function countryCode({ countryLength }: VersionRules, alpha3: string): string {
  return countryLength === 2 ? toAlpha2(alpha3) : alpha3;
}
