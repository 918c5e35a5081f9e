import type { Payload } from '@temporalio/common';
import { withoutCardData } from './card-data-detector.js';

/** Fields shown as `****1111`: enough to tell two apart, too little to use. Normalized names. */
const LAST_FOUR = new Set(['token', 'paymentmethodtoken', 'phone', 'phonenumber', 'accountnumber', 'iban']);
/** Fields of which nothing is shown. */
const HIDDEN = new Set([
  'encryptedcvv',
  'email',
  'emailaddress',
  'holdername',
  'cardholdername',
  'firstname',
  'lastname',
  'fullname',
  'dateofbirth',
  'identitydocument',
  'clientipaddress',
  'ipaddress',
  'line1',
  'line2',
  'addressline1',
  'addressline2',
  'privatekey',
  'authorization',
  'cookie',
]);

/** A copy of JSON data in which personal data and card data are masked, for eyes in a browser. */
export function maskForDisplay(value: unknown): unknown {
  return withoutCardData(mask(value, ''));
}

/** The payload with its JSON value masked. What is not JSON passes as it is. */
export function maskPayload(payload: Payload): Payload {
  const encoding = payload.metadata?.['encoding'];
  if (!encoding || !payload.data || !Buffer.from(encoding).toString().startsWith('json/')) return payload;
  try {
    const value: unknown = JSON.parse(Buffer.from(payload.data).toString('utf8'));
    return { ...payload, data: Buffer.from(JSON.stringify(maskForDisplay(value))) };
  } catch {
    return payload;
  }
}

function mask(value: unknown, key: string): unknown {
  if (Array.isArray(value)) return value.map((item) => mask(item, key));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, mask(item, name)]));
  }
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  const name = key.toLowerCase().replace(/[^a-z0-9]/g, '');
  if (HIDDEN.has(name)) return '****';
  if (!LAST_FOUR.has(name)) return value;
  const text = String(value);
  return text.length >= 12 ? `****${text.slice(-4)}` : '****';
}
