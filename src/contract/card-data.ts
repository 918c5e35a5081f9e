import { z } from 'zod';
import { cardNumberSpans, starCardNumbers } from './card-numbers.js';

/**
 * Text written by people: names, addresses, reasons. Only such text is searched for card data. Ids, references,
 * telephone numbers, descriptors and our keys are not: one valid number in ten would be refused.
 * @param most maximum length in characters
 */
export function freeText(most: number, text: z.ZodString = z.string()) {
  return text.min(1).max(most, { abort: true }).refine(holdsNoCardData, {
    error: 'looks like it holds a card number or CVV, which must never enter a history: send a token instead',
  });
}

function holdsNoCardData(text: string): boolean {
  return !holdsCardData(text);
}

/** CVV fields inside a text: `cvv=123`, `CVV: 123`, or JSON in a string, even escaped twice. */
const CVV_IN_TEXT =
  /(?<!encrypted[_-]?)cv(?:v|c|n|d)[23]?(?:_?code|_?value|_?number)?[\\"']{0,4}\s{0,3}[:=]\s{0,3}[\\"']{0,4}\d{3,4}(?![A-Za-z0-9+/])/i;

/** True if the text holds a card number (issuer prefix, length, check digit) or a named CVV. */
export function holdsCardData(text: string): boolean {
  return cardNumberSpans(text).length > 0 || CVV_IN_TEXT.test(text);
}

/** Masks card numbers down to their last four digits, and CVVs completely. */
export function starCardData(text: string): string {
  return starCardNumbers(text).replace(new RegExp(CVV_IN_TEXT, 'gi'), (field) => field.replace(/\d+$/, '***'));
}

const CVV_NAME =
  /^(?!encrypted)(?:[a-z]*(?:(?:cvv|cvc|cvn|cvd|cav)[23]?(?:code|value|number)?|csc|(?:security|verification)(?:code|value|number))|cid|pin(?:block|code)?)$/;
const CARD_NUMBER_NAME =
  /^(?:(?:credit|debit|payment|bank)?card(?:number|no|num)|pan|primaryaccountnumber|track[12]?(?:data)?)$/;

/** Recognizes card data by field name in any notation: `credit_card_cvv`, `securityCode`, `cardNumber`, `track2`. */
export function namesCardData(name: string): 'cardNumber' | 'cvv' | undefined {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  if (CARD_NUMBER_NAME.test(plain)) return 'cardNumber';
  return CVV_NAME.test(plain) ? 'cvv' : undefined;
}
