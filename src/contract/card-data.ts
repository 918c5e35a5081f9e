import { z } from 'zod';
import { cardNumberSpans, starCardNumbers } from './card-numbers.js';

/**
 * Text that a person writes: names, addresses, reasons. It alone is searched for card data. What has a form or a meaning of
 * its own (ids, references, telephone numbers, descriptors, our keys) never is: one honest number in ten would be refused.
 * @param most characters
 */
export function freeText(most: number, text: z.ZodString = z.string()) {
  return text.min(1).max(most, { abort: true }).refine(holdsNoCardData, {
    error: 'looks like it holds a card number or CVV, which must never enter a history: send a token instead',
  });
}

function holdsNoCardData(text: string): boolean {
  return !holdsCardData(text);
}

/** Fields that are seen as such though they stand in a text: `cvv=123`, `CVV: 123`, JSON in a string, even twice. */
const CVV_IN_TEXT =
  /(?<!encrypted[_-]?)cv(?:v|c|n|d)[23]?(?:_?code|_?value|_?number)?[\\"']{0,4}\s{0,3}[:=]\s{0,3}[\\"']{0,4}\d{3,4}(?![A-Za-z0-9+/])/i;

/** A card number (issuer prefix, length, check digit), or a CVV by its name. */
export function holdsCardData(text: string): boolean {
  return cardNumberSpans(text).length > 0 || CVV_IN_TEXT.test(text);
}

/** The text with card numbers starred down to their last four digits, and CVVs wholly. */
export function starCardData(text: string): string {
  return starCardNumbers(text).replace(new RegExp(CVV_IN_TEXT, 'gi'), (field) => field.replace(/\d+$/, '***'));
}

const CVV_NAME =
  /^(?!encrypted)(?:[a-z]*(?:(?:cvv|cvc|cvn|cvd|cav)[23]?(?:code|value|number)?|csc|(?:security|verification)(?:code|value|number))|cid|pin(?:block|code)?)$/;
const CARD_NUMBER_NAME =
  /^(?:(?:credit|debit|payment|bank)?card(?:number|no|num)|pan|primaryaccountnumber|track[12]?(?:data)?)$/;

/** By the name of a field, however it is written: `credit_card_cvv`, `securityCode`, `cardNumber`, `track2`. */
export function namesCardData(name: string): 'cardNumber' | 'cvv' | undefined {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '');
  if (CARD_NUMBER_NAME.test(plain)) return 'cardNumber';
  return CVV_NAME.test(plain) ? 'cvv' : undefined;
}
