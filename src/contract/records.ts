/** A customer as activities return it: its ids, without personal data. */
export interface CustomerRecord {
  customerId: string;
  /** The merchant's own id of the customer. */
  customerReference: string;
  /** Network tokens need an e-mail address. */
  hasEmail?: true;
  requestId?: string;
}

/**
 * A token or stored card as activities return it: enough to charge it and to distinguish it. The holder's name and
 * address are left out on purpose.
 */
export interface PaymentMethodRecord {
  token: string;
  /** `credit_card`, `card_cvv_code` or `billing_agreement`; other values are possible. */
  tokenType?: string;
  /** `created`, `used`, `assigned`, `valid`; other values are possible. undefined before API version 1.2.0. */
  state?: string;
  /** Equal fingerprints mean equal card numbers. */
  fingerprint?: string;
  binNumber?: string;
  last4Digits?: string;
  /** `MM/YYYY`. */
  expirationDate?: string;
  vendor?: string;
  cardType?: string;
  /** The issuer's country, ISO 3166-1 alpha-3. */
  countryCode?: string;
  issuer?: string;
  /** Level of card benefits, such as `CORPORATE`. */
  level?: string;
  /** True if the card number has a valid check digit. */
  passesLuhn?: boolean;
  /** When the service created the token or stored the card: ISO 8601 UTC. */
  createdAt?: string;
  customerId?: string;
  requestId?: string;
}
