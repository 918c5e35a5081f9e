/** A customer as an activity returns it: who it is, and none of its personal data. */
export interface CustomerRecord {
  customerId: string;
  /** The merchant's own. */
  customerReference: string;
  /** Network tokens need one. */
  hasEmail?: true;
  requestId?: string;
}

/**
 * A token or a stored card as an activity returns it: enough to charge it and to tell it from others.
 * Name and address of its holder are left out on purpose.
 */
export interface PaymentMethodRecord {
  token: string;
  /** `credit_card`, `card_cvv_code` or `billing_agreement`; others may come. */
  tokenType?: string;
  /** `created`, `used`, `assigned`, `valid`; others may come. Absent before API version 1.2.0. */
  state?: string;
  /** Equal fingerprints mean equal card numbers. */
  fingerprint?: string;
  binNumber?: string;
  last4Digits?: string;
  /** `MM/YYYY`. */
  expirationDate?: string;
  vendor?: string;
  cardType?: string;
  /** Of the issuer, ISO 3166-1 alpha-3. */
  countryCode?: string;
  issuer?: string;
  /** Of benefits, such as `CORPORATE`. */
  level?: string;
  /** Whether the card number has a valid check digit. */
  passesLuhn?: boolean;
  /** When the service made the token, or stored the card: ISO 8601 UTC. */
  createdAt?: string;
  customerId?: string;
  requestId?: string;
}
