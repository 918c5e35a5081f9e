import { z } from 'zod';
import { CARD_DIGITS, isCardNumber } from './card-schemes.js';
import { type DigitRun, digitRuns, type Work } from './digit-runs.js';

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

/** Start and end (exclusive) of every card number in a text, written in one piece or in groups. */
export function cardNumberSpans(text: string, work: Work = { steps: 0 }): [start: number, end: number][] {
  return findNumbers(text, work).map((places) => [places[0] ?? 0, (places.at(-1) ?? 0) + 1]);
}

/** Masks every card number's digits except the last four. Keeps the length. */
export function starCardNumbers(text: string): string {
  const numbers = findNumbers(text, { steps: 0 });
  if (numbers.length === 0) return text;
  const characters = text.split('');
  for (const places of numbers) {
    for (const place of places.slice(0, -4)) characters[place] = '*';
  }
  return characters.join('');
}

/** Positions of each number's digits. */
function findNumbers(text: string, work: Work): number[][] {
  const numbers: number[][] = [];
  for (const run of digitRuns(text, work)) {
    if (run.digits.length >= CARD_DIGITS.least) numbersOfRun(run, work, numbers);
  }
  return numbers;
}

/** A run may hold more than the card number ("4111 1111 1111 1111 12 27 123"), so every row of groups is tried. */
function numbersOfRun({ digits, places, starts }: DigitRun, work: Work, numbers: number[][]): void {
  const sizes = starts.map((start, group) => (starts[group + 1] ?? digits.length) - start);
  for (let group = 0; group < sizes.length; group++) {
    const groups = groupsOfNumber(digits, starts, sizes, group, work);
    const found =
      groups > 0
        ? { from: starts[group] ?? 0, to: starts[group + groups] ?? digits.length }
        : withinGroup(digits, starts[group] ?? 0, sizes[group] ?? 0, work);
    if (found === undefined) continue;
    numbers.push(places.slice(found.from, found.to));
    group += Math.max(groups, 1) - 1;
  }
}

/** Number of groups, starting at `first`, of the longest card number that begins there; 0 if there is none. */
function groupsOfNumber(
  digits: string,
  starts: readonly number[],
  sizes: readonly number[],
  first: number,
  work: Work,
): number {
  const from = starts[first] ?? 0;
  // Single digits and pairs form a card number only as a whole run; don't try each position of a long one.
  if ((sizes[first] ?? 0) < 3 && (first > 0 || digits.length > CARD_DIGITS.most)) return 0;
  let found = 0;
  for (let count = 1, length = 0; first + count <= sizes.length; count++) {
    work.steps += 1;
    length += sizes[first + count - 1] ?? 0;
    if (length > CARD_DIGITS.most) break;
    if (length < CARD_DIGITS.least) continue;
    if (!isLaidOutAsCard(sizes.slice(first, first + count), count === sizes.length)) continue;
    work.steps += length;
    if (isCardNumber(digits.slice(from, from + length))) found = count;
  }
  return found;
}

/** Layouts of American Express, of Diners Club, and of a number written in place of a UUID. */
const CARD_LAYOUTS = ['4,6,5', '4,6,4', '8,4,4'];
const LONGEST_GROUP = 8;

/**
 * One group, several of one size with a shorter last one, or a scheme's own layout. Single digits, pairs and other
 * sizes count only as a whole run, because dates and times look the same. Groups of order ids are longer.
 */
function isLaidOutAsCard(sizes: readonly number[], isWhole: boolean): boolean {
  const [first = 0] = sizes;
  if (sizes.length === 1 || (sizes.length === 3 && CARD_LAYOUTS.includes(sizes.join()))) return true;
  if (sizes.some((size) => size > LONGEST_GROUP)) return false;
  const body = sizes.slice(0, -1);
  if (body.every((size) => size === first) && (sizes.at(-1) ?? 0) <= first) return first >= 3 || isWhole;
  return isWhole && body.every((size) => size >= 3);
}

/** A CVV has 3 digits, that of American Express 4; an expiry date has 4, as MMYY or YYMM. */
const AFTER_NUMBER = /^(?:\d{3}|(?:(?:0[1-9]|1[0-2])[2-4]\d|[2-4]\d(?:0[1-9]|1[0-2]))(?:\d{3,4})?)$/;
const LONGEST_GLUED = CARD_DIGITS.most + 8;

/**
 * Finds a card number with one digit before it, or with expiry date, CVV or both right after it. UATP is excluded: it
 * owns every number beginning with 1, so one number in a hundred would match by chance.
 */
function withinGroup(
  digits: string,
  start: number,
  size: number,
  work: Work,
): { from: number; to: number } | undefined {
  if (size <= CARD_DIGITS.least || size > LONGEST_GLUED) return undefined;
  const group = digits.slice(start, start + size);
  for (let length: number = CARD_DIGITS.least; length <= CARD_DIGITS.most && length < size; length++) {
    work.steps += length;
    const rest = group.slice(length);
    const isAmexCode = length === 15 && rest.length === 4;
    if ((isAmexCode || AFTER_NUMBER.test(rest)) && isGlued(group.slice(0, length))) {
      return { from: start, to: start + length };
    }
    if (rest.length === 1 && isGlued(group.slice(1))) return { from: start + 1, to: start + size };
  }
  return undefined;
}

function isGlued(digits: string): boolean {
  return !digits.startsWith('1') && isCardNumber(digits);
}
