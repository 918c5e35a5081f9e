/** Digits of a text that belong together: in one piece, or in groups with a few separators between them. */
export interface DigitRun {
  /** ASCII digits, without separators. */
  digits: string;
  /** Position of each digit in the text. */
  places: readonly number[];
  /** Indexes of the digits that begin a group, including the first digit. */
  starts: readonly number[];
}

/** Counts examined characters, so that a test can check that the work grows linearly with the text. */
export interface Work {
  steps: number;
}

/** For `", "` (with quotes) between the quarters of a number in a list. */
const MOST_SEPARATORS = 4;

/**
 * Separators outside ASCII that people, spreadsheets and web pages put between digits: non-breaking spaces, soft
 * hyphens, middle dots, all of "general punctuation" (dashes, spaces of any width), East Asian punctuation. A fixed
 * list, because flows parse with it and a runtime's definition of a letter changes with its version.
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

/** Code points of zero in other scripts' digits: Arabic, Persian, Devanagari, full-width. */
const ZEROS = [0x660, 0x6f0, 0x966, 0xff10];

/** The digit that a UTF-16 code unit stands for, or undefined. */
function digitOf(code: number): number | undefined {
  if (code < 0x80) return code >= 0x30 && code <= 0x39 ? code - 0x30 : undefined;
  const zero = ZEROS.find((first) => code >= first && code <= first + 9);
  return zero === undefined ? undefined : code - zero;
}

/** Yields every digit run of a text, skipping UUIDs and digests, which can look like a card number by chance. */
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
    // Skip a whole separator only inside a run: elsewhere, what looks like an escape may begin a card number.
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

/** Length of the separator at this position; 0 for alphanumerics, and for `*`, which masks digits. */
function separatorAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  // A URL escapes spaces and dashes: %20, %2D.
  if (code === 0x25 && text[at + 1] === '2' && isHex(text.charCodeAt(at + 2))) return 3;
  if (code < 0x80) return isAlphanumeric(code) || code === 0x2a ? 0 : 1;
  return FURTHER_SEPARATORS.some(([low, high]) => code >= low && code <= high) ? 1 : 0;
}

/** Shorter digests hardly ever have enough digits in a row to look like a card number. */
const SHORTEST_DIGEST = 24;
const UUID_LENGTH = 36;
const UUID_DASHES: readonly number[] = [8, 13, 18, 23];
/** Track 2 of a card, its separator written as a letter. */
const TRACK = /^\d{14,19}D\d+F?$/i;

/** Length of the UUID or hexadecimal digest that begins here; 0 for anything else, including plain digits. */
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

/** Length of the hexadecimal text at this position, including the dashes of a UUID. */
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
