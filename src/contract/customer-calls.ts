import type { KeyedCall, UnitCall } from './activity-calls.js';

export interface CustomerCall extends UnitCall {
  customerId: string;
}

export interface FindCustomerCall extends UnitCall {
  customerReference: string;
  /** A card is to be stored with it: refused with `InvalidInput` where the unit can't store any. */
  forCards?: true;
}

/** Country codes are ISO 3166-1 alpha-3. */
export interface CustomerAddress {
  country?: string;
  state?: string;
  city?: string;
  line1?: string;
  line2?: string;
  zipCode?: string;
  title?: string;
  firstName?: string;
  lastName?: string;
  phone?: string;
  email?: string;
}

/** Personal data: it goes to the service and into the (encrypted) history once, and comes back in no answer. */
export interface CustomerContent {
  /** The merchant's own; it can't be changed later. */
  customerReference: string;
  firstName?: string | undefined;
  lastName?: string | undefined;
  /** Needed for network tokens. */
  email?: string | undefined;
  shippingAddress?: CustomerAddress;
}

export interface CreateCustomerCall extends KeyedCall {
  customer: CustomerContent;
  additionalDetails?: Record<string, string>;
}

export interface PaymentMethodCall extends CustomerCall {
  token: string;
}

/** Since API version 1.2.0. The token must be less than 24 h old. */
export interface StorePaymentMethodCall extends KeyedCall {
  customerId: string;
  token: string;
}

export interface TokenCall extends UnitCall {
  token: string;
}
