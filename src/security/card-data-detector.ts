import { cardNumberSpans, hasIssuerPrefix, starCardNumbers } from '../domain/card-numbers.js';

/** `cvv`, `card_cvc2`, `credit_card_cvv`, `securityCode`...; but not `encryptedCvv`, nor a result of a check. */
const CVV_KEY = /^(?!encrypted)[a-z]*(?:(?:cvv|cvc|cvn|cav)2?(?:code|value|number)?|csc|(?:card)?securitycode)$/;
const CARD_NUMBER_KEY = /^(?:(?:credit|debit|payment|bank)?card(?:number|no|num)|pan|primaryaccountnumber)$/;
/** Whole numbers of minor units: any of them may happen to look like a card number. */
const AMOUNT_KEY = /^(?:amount|amountminor|unitprice|totalamount)$/;
/**
 * A network's own id of a consent: 15 digits or more, of which some pass every test of a card number. Starred, it
 * would be of no use for the years in which it is needed. In groups, as cards are written, it is not taken for one.
 */
const CONSENT_ID_KEY = 'consenttransactionid';
/** JSON inside a string: its fields are not seen as fields, so a CVV is looked for in the text. */
const CVV_IN_TEXT = /"[a-z_]*(?:cvv|cvc)2?"\s*:\s*"?\d{3,4}(?!\d)/i;

/**
 * As epoch ms, which every flow's payloads hold as numbers: October 2096 to June 2128. One in ten of these moments passes
 * as a Visa number of thirteen digits, and a starred one would wedge its flow. As text it is a card.
 */
const MOMENTS_LIKE_CARDS = { from: 4_000_000_000_000, before: 5_000_000_000_000 } as const;

const MAX_DEPTH = 200;

/**
 * Paths (`$.a.b[0]`) of everything in a value that looks like a card number (issuer prefix, length,
 * Luhn) or a CVV. Never the value itself, and never a key that is a card number. Empty when clean.
 */
export function findCardData(value: unknown): string[] {
  const findings: string[] = [];
  walk(value, '$', '', 0, new Set(), findings);
  return findings;
}

function walk(value: unknown, path: string, key: string, depth: number, above: Set<object>, findings: string[]): void {
  if (isCardValue(key, value)) findings.push(path);
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value) || above.has(value)) return;
  if (depth >= MAX_DEPTH) {
    // Deeper than any input of ours; not looked into, so not let through.
    findings.push(`${path} (nested too deeply to check)`);
    return;
  }
  above.add(value);
  if (Array.isArray(value)) {
    value.forEach((item, index) => walk(item, `${path}[${index}]`, key, depth + 1, above, findings));
  } else {
    for (const [name, item] of Object.entries(value)) {
      const isCard = cardNumberSpans(name).length > 0;
      const at = `${path}.${isCard ? '(a key that is a card number)' : name}`;
      if (isCard) findings.push(at);
      walk(item, at, name, depth + 1, above, findings);
    }
  }
  above.delete(value);
}

function isCardValue(key: string, value: unknown): boolean {
  if (typeof value === 'string') return isCardText(key, value);
  if (typeof value === 'bigint') return isCardText(key, value.toString());
  if (typeof value !== 'number' || !Number.isInteger(value)) return false;
  const name = normalize(key);
  if (CVV_KEY.test(name)) return value >= 0 && value <= 9999;
  if (AMOUNT_KEY.test(name)) return false;
  const digits = String(value);
  const { from, before } = MOMENTS_LIKE_CARDS;
  if (value >= from && value < before && !CARD_NUMBER_KEY.test(name)) return false;
  // Above 2^53 the last digits are already rounded, so the check digit says nothing.
  return Number.isSafeInteger(value) ? isCardText(key, digits) : hasIssuerPrefix(digits);
}

function isCardText(key: string, text: string): boolean {
  const name = normalize(key);
  if (name === CONSENT_ID_KEY && /^\w+$/.test(text)) return false;
  const bare = text.replace(/[\s-]/g, '');
  if (CVV_KEY.test(name) && /^\d{3,4}$/.test(bare)) return true;
  if (CARD_NUMBER_KEY.test(name) && /^\d{12,19}$/.test(bare)) return true;
  return cardNumberSpans(text).length > 0 || CVV_IN_TEXT.test(text);
}

/** A copy of JSON data in which card numbers are starred down to their last four digits, CVVs wholly. */
export function withoutCardData(value: unknown, key = '', depth = 0): unknown {
  if (depth > MAX_DEPTH) return '***';
  if (Array.isArray(value)) return value.map((item) => withoutCardData(item, key, depth + 1));
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [starCardNumbers(name), withoutCardData(item, name, depth + 1)]),
    );
  }
  if (!isCardValue(key, value)) return value;
  const starred = starCardNumbers(String(value));
  return starred === String(value) ? '***' : starred.replace(/(cv[vc]2?"\s*:\s*"?)\d{3,4}(?!\d)/gi, '$1***');
}

function normalize(key: string): string {
  return key.toLowerCase().replace(/[^a-z0-9]/g, '');
}
