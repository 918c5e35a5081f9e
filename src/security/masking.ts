import type { Payload } from '@temporalio/common';
import { namesCardData, starCardData } from '../contract/card-data.js';

/** Normalized names of fields shown as `****1111`: enough to tell two values apart, too little to use one. */
const LAST_FOUR = new Set(['token', 'paymentmethodtoken', 'phone', 'phonenumber', 'accountnumber', 'iban']);
/** Fields that are masked completely. */
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
  'expirationdate',
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

/**
 * Ids, keys, references and similar fields, some of which look like card numbers. Masked ones would lead an operator to
 * the wrong payment or to none.
 */
const SHOWN = /(?:id|ids|key|reference|url|hash|fingerprint|request|descriptor|amount|price|minor)$/;
/** Deeper than any data of Holdfast. Deeper values are not checked, so they are masked. */
const MAX_DEPTH = 200;

/** A copy of JSON data with personal data and card data masked, for display in a browser. */
function maskForDisplay(value: unknown): unknown {
  return mask(value, '', 0);
}

/** The payload with its JSON value masked. Other encodings are returned unchanged. */
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

function mask(value: unknown, key: string, depth: number): unknown {
  if (depth > MAX_DEPTH) return '***';
  if (Array.isArray(value)) return value.map((item) => mask(item, key, depth + 1));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [starCardData(name), mask(item, name, depth + 1)]),
    );
  }
  if (typeof value !== 'string' && typeof value !== 'number') return value;
  const name = key.toLowerCase().replace(/[^a-z0-9]/g, '');
  const text = String(value);
  if (HIDDEN.has(name)) return '****';
  if (LAST_FOUR.has(name)) return text.length >= 12 ? `****${text.slice(-4)}` : '****';
  if (namesCardData(name) !== undefined && /\d{3}/.test(text)) return '***';
  if (SHOWN.test(name)) return value;
  const starred = starCardData(text);
  return starred === text ? value : starred;
}
