import type { ApiVersion, ProviderAnswer, ProviderClient } from '../../../src/provider/index.js';
import { TOKEN } from './fake-service.js';

export const CUSTOMER_ID = '11d2c3b4-a5f6-4e7d-8c9b-0a1b2c3d4e5f';

/** What the wire of a version writes where the newest one writes something else. */
export interface Wire {
  version: ApiVersion;
  /** Of USD. */
  money(minorUnits: number): number;
  country: string;
  tokenType: Record<string, string>;
}

export function wireOf(version: ApiVersion): Wire {
  const oldest = version === '1.0.0';
  return {
    version,
    money: (minorUnits) => (oldest ? minorUnits / 100 : minorUnits),
    country: oldest ? 'US' : 'USA',
    tokenType: oldest ? { type: 'credit_card' } : { type: 'tokenized', token_type: 'credit_card' },
  };
}

/** Every option; which of them a call takes is for the table of operations to say. */
export const OPTIONS = { idempotencyKey: 'key-1', clientIpAddress: '203.0.113.7', currency: 'USD' };

export interface Example {
  call(client: ProviderClient): Promise<ProviderAnswer<unknown>>;
  path: string;
  /** Undefined where nothing is sent. */
  body?(wire: Wire): unknown;
  /** Undefined where the service answers 204. */
  answer?(wire: Wire): unknown;
  data: unknown;
}

export const ADDRESS = { country: 'USA', city: 'Miami', zipCode: '33101', line1: '1 Main St', firstName: 'Ann' };
export const wireAddress = (wire: Wire) => ({
  country: wire.country,
  city: 'Miami',
  zip_code: '33101',
  line1: '1 Main St',
  first_name: 'Ann',
});

export const ORDER = { id: 'o-1', taxAmount: 95, lineItems: [{ id: '1', name: 'Tea', quantity: 2, unitPrice: 500 }] };
export const wireOrder = (wire: Wire) => ({
  id: 'o-1',
  tax_amount: wire.money(95),
  line_items: [{ id: '1', name: 'Tea', quantity: 2, unit_price: wire.money(500) }],
});

export const cardAnswer = (wire: Wire) => ({
  ...wire.tokenType,
  token: TOKEN,
  holder_name: 'Ann Smith',
  expiration_date: '10/2030',
  last_4_digits: '1111',
  bin_number: '411111',
  pass_luhn_validation: true,
  vendor: 'VISA',
  card_type: 'CREDIT',
  issuer: '',
  country_code: wire.country,
  created: '1600000000000',
});
export const CARD_DATA = {
  type: 'tokenized',
  tokenType: 'credit_card',
  token: TOKEN,
  holderName: 'Ann Smith',
  expirationDate: '10/2030',
  last4Digits: '1111',
  binNumber: '411111',
  passLuhnValidation: true,
  vendor: 'VISA',
  cardType: 'CREDIT',
  countryCode: 'USA',
  created: '1600000000000',
};
