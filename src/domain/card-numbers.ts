interface Scheme {
  /** Inclusive bounds of the leading digits, all of one width. */
  prefixes: readonly (readonly [number, number])[];
  lengths: readonly number[];
}

const FROM_16 = [16, 17, 18, 19];
const FROM_14 = [14, 15, ...FROM_16];
const FROM_13 = [13, ...FROM_14];

/** Issuer prefixes by scheme (ISO/IEC 7812 ranges as the schemes publish them). */
export const CARD_SCHEMES: Readonly<Record<string, Scheme>> = {
  visa: { prefixes: [[4, 4]], lengths: [13, 16, 19] },
  mastercard: {
    prefixes: [
      [51, 55],
      [2221, 2720],
    ],
    lengths: [16],
  },
  amex: {
    prefixes: [
      [34, 34],
      [37, 37],
    ],
    lengths: [15],
  },
  discover: {
    prefixes: [
      [6011, 6011],
      [644, 649],
      [65, 65],
    ],
    lengths: FROM_16,
  },
  diners: {
    prefixes: [
      [300, 305],
      [3095, 3095],
      [36, 36],
      [38, 39],
    ],
    lengths: FROM_14,
  },
  jcb: { prefixes: [[3528, 3589]], lengths: FROM_16 },
  unionPay: {
    prefixes: [
      [62, 62],
      [81, 81],
    ],
    lengths: FROM_16,
  },
  maestro: {
    prefixes: [
      [5018, 5018],
      [5020, 5020],
      [5038, 5038],
      [5893, 5893],
      [6304, 6304],
      [6390, 6390],
      [6759, 6759],
      [6761, 6763],
    ],
    lengths: FROM_13,
  },
};

/** Digits only, 13 to 19 of them: a known issuer prefix of the right length, and a valid check digit. */
export function isCardNumber(digits: string): boolean {
  return hasIssuerPrefix(digits) && passesLuhn(digits);
}

export function hasIssuerPrefix(digits: string): boolean {
  return Object.values(CARD_SCHEMES).some(
    ({ prefixes, lengths }) =>
      lengths.includes(digits.length) &&
      prefixes.some(([low, high]) => {
        const lead = Number(digits.slice(0, String(low).length));
        return lead >= low && lead <= high;
      }),
  );
}

export function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = Number(digits[digits.length - 1 - i]);
    const doubled = i % 2 === 1 ? digit * 2 : digit;
    sum += doubled > 9 ? doubled - 9 : doubled;
  }
  return sum % 10 === 0;
}

/** Between the groups of a written card number: spaces (also no-break) and dashes, a few at most. */
const SEPARATOR = '[\\s\\-\\u2010-\\u2015]{1,3}';
const DIGIT_RUN = new RegExp(`\\d+(?:${SEPARATOR}\\d+)*`, 'g');
const MAYBE = new RegExp(`\\d(?:(?:${SEPARATOR})?\\d){12}`);

/**
 * Things made of digits that are not card numbers but would now and then pass as one: UUIDs, hex
 * digests, ISO dates. Blanked before the search, at the same length so that positions stay true.
 */
const NOT_CARDS = [
  /(?<![0-9A-Za-z])[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}(?![0-9A-Za-z])/g,
  /(?<![0-9A-Za-z])(?=\d*[a-fA-F])[0-9a-fA-F]{32,}(?![0-9A-Za-z])/g,
  /(?<![\d-])(?:19|20)\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?![\d-])/g,
];

/** Start and end (exclusive) of everything in a text that is a card number, written in one piece or in groups. */
export function cardNumberSpans(text: string): [number, number][] {
  if (!MAYBE.test(text)) return [];
  const blanked = NOT_CARDS.reduce((rest, pattern) => rest.replace(pattern, (match) => '#'.repeat(match.length)), text);
  return [...blanked.matchAll(DIGIT_RUN)].flatMap((run) => spansOfRun(run[0], run.index));
}

/**
 * A run may hold more than the card number ("4111 1111 1111 1111 12 27 123"), so each row of whole
 * groups is tried.
 */
function spansOfRun(run: string, offset: number): [number, number][] {
  const groups = [...run.matchAll(/\d+/g)];
  const spans: [number, number][] = [];
  for (let first = 0; first < groups.length; first++) {
    let digits = '';
    for (let last = first; last < groups.length; last++) {
      const start = groups[first];
      const end = groups[last];
      if (start === undefined || end === undefined) break;
      digits += end[0];
      if (digits.length > 19) break;
      if (digits.length >= 13 && isCardNumber(digits)) {
        spans.push([offset + start.index, offset + end.index + end[0].length]);
        first = last;
        break;
      }
    }
  }
  return spans;
}

/** The text with the digits of every card number starred, except the last four. The length stays. */
export function starCardNumbers(text: string): string {
  const spans = cardNumberSpans(text);
  if (spans.length === 0) return text;
  const characters = text.split('');
  for (const [start, end] of spans) {
    let kept = 0;
    for (let i = end - 1; i >= start; i--) {
      if (!/\d/.test(characters[i] ?? '')) continue;
      if (kept++ >= 4) characters[i] = '*';
    }
  }
  return characters.join('');
}
