/** Digits of a text that belong together: in one piece, or in groups with a few separators between them. */
export interface DigitRun {
  /** As ASCII, without what stands between them. */
  digits: string;
  /** Where each of the digits stands in the text. */
  places: readonly number[];
  /** Which of the digits begin a group; the first one does. */
  starts: readonly number[];
}

/** Counts characters looked at, so that a test can tell that the work grows no faster than the text. */
export interface Work {
  steps: number;
}

/** `", "` between the quarters of a number in a list. */
const MOST_SEPARATORS = 4;

/**
 * What else people, spreadsheets and web pages put between digits: blanks that do not break, soft hyphens, dots in the
 * middle, all of "general punctuation" (dashes, blanks of every width and of none), the signs of East Asian fonts. A list of
 * our own, since flows parse by it and what a runtime calls a letter changes with its version.
 */
const FURTHER_SEPARATORS: readonly (readonly [number, number])[] = [
  [0x80, 0xa9],
  [0xab, 0xb1],
  [0xb4, 0xb4],
  [0xb6, 0xb8],
  [0xbb, 0xbb],
  [0xd7, 0xd7],
  [0x60c, 0x60c],
  [0x66a, 0x66d],
  [0x2000, 0x206f],
  [0x2190, 0x22ff],
  [0x2500, 0x25ff],
  [0x3000, 0x3003],
  [0x3008, 0x3020],
  [0x30fb, 0x30fb],
  [0xfe50, 0xfe6b],
  [0xfeff, 0xfeff],
  [0xff01, 0xff0f],
  [0xff1a, 0xff20],
  [0xff3b, 0xff40],
  [0xff5b, 0xff65],
];

/** Zeros of the digits that keyboards of other scripts write: Arabic, Persian, Devanagari, full-width. */
const ZEROS = [0x660, 0x6f0, 0x966, 0xff10];

/** The digit that a UTF-16 code unit stands for, or undefined. */
function digitOf(code: number): number | undefined {
  if (code < 0x80) return code >= 0x30 && code <= 0x39 ? code - 0x30 : undefined;
  const zero = ZEROS.find((first) => code >= first && code <= first + 9);
  return zero === undefined ? undefined : code - zero;
}

/** Every run of digits of a text, without those of UUIDs and digests, which would now and then pass for a number. */
export function* digitRuns(text: string, work: Work): Generator<DigitRun> {
  let run = emptyRun();
  let separators = 0;
  let at = 0;
  while (at < text.length) {
    work.steps += 1;
    const machine = lengthOfMachineText(text, at, work);
    const digit = machine > 0 ? undefined : digitOf(text.charCodeAt(at));
    if (digit !== undefined) {
      if (separators > 0 || run.digits.length === 0) run.starts.push(run.digits.length);
      run.digits.push(digit);
      run.places.push(at);
      separators = 0;
      at += 1;
      continue;
    }
    const width = machine > 0 ? 0 : separatorAt(text, at);
    separators += 1;
    if (run.digits.length > 0 && (width === 0 || separators > MOST_SEPARATORS)) {
      yield finished(run);
      run = emptyRun();
    }
    // Between the digits only: elsewhere what looks like an escape may be the beginning of a number.
    at += machine > 0 ? machine : run.digits.length > 0 ? width : 1;
  }
  if (run.digits.length > 0) yield finished(run);
}

interface OpenRun {
  digits: number[];
  places: number[];
  starts: number[];
}

function emptyRun(): OpenRun {
  return { digits: [], places: [], starts: [] };
}

function finished({ digits, places, starts }: OpenRun): DigitRun {
  return { digits: digits.join(''), places, starts };
}

/** How many characters the separator takes that stands here; 0 for a letter, and for the star of what is masked. */
function separatorAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  // An address has its blanks and dashes escaped: %20, %2D.
  if (code === 0x25 && text[at + 1] === '2' && isHex(text.charCodeAt(at + 2))) return 3;
  if (code < 0x80) return isAlphanumeric(code) || code === 0x2a ? 0 : 1;
  return FURTHER_SEPARATORS.some(([low, high]) => code >= low && code <= high) ? 1 : 0;
}

/** Shorter ones have no digits enough in one row, or hardly ever. */
const SHORTEST_DIGEST = 24;
const UUID_LENGTH = 36;
const UUID_DASHES: readonly number[] = [8, 13, 18, 23];
/** The second track of a card, its separator written as a letter. */
const TRACK = /^\d{14,19}D\d+F?$/i;

/** The length of the UUID or hexadecimal digest that begins here; 0 for anything else, and for digits alone. */
function lengthOfMachineText(text: string, at: number, work: Work): number {
  if (at > 0 && isAlphanumeric(text.charCodeAt(at - 1))) return 0;
  if (!isHex(text.charCodeAt(at))) return 0;
  if (UUID_DASHES.every((dash) => text[at + dash] === '-')) {
    const uuid = hexAt(text, at, UUID_LENGTH, work);
    if (uuid.length === UUID_LENGTH && uuid.hasLetter) return UUID_LENGTH;
  }
  const { length, hasLetter } = hexAt(text, at, Infinity, work);
  if (length < SHORTEST_DIGEST || !hasLetter) return 0;
  return length <= 2 * SHORTEST_DIGEST && TRACK.test(text.slice(at, at + length)) ? 0 : length;
}

/** How far it is hexadecimal, dashes included where a UUID has them. */
function hexAt(text: string, at: number, most: number, work: Work): { length: number; hasLetter: boolean } {
  let hasLetter = false;
  let length = 0;
  for (; length < most; length++) {
    work.steps += 1;
    const code = text.charCodeAt(at + length);
    if (most === UUID_LENGTH && UUID_DASHES.includes(length)) continue;
    if (!isHex(code)) break;
    hasLetter ||= digitOf(code) === undefined;
  }
  return isAlphanumeric(text.charCodeAt(at + length)) ? { length: 0, hasLetter } : { length, hasLetter };
}

function isHex(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x46) || (code >= 0x61 && code <= 0x66);
}

function isAlphanumeric(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}
