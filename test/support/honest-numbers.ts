import { randomUUID } from 'node:crypto';

/** Numbers from 0 to below 1. */
type Random = () => number;
export type HonestNumber = (random: Random) => string;

const digits = (random: Random, count: number): string =>
  Array.from({ length: count }, () => Math.floor(random() * 10)).join('');
const from = <Item>(random: Random, items: readonly Item[]): Item => items[Math.floor(random() * items.length)] as Item;
const between = (random: Random, low: number, high: number): number => low + Math.floor(random() * (high - low + 1));

/** The check digit of every number of GS1: weights 3 and 1 from the right. */
function withGs1Digit(body: string): string {
  const sum = body
    .split('')
    .toReversed()
    .reduce((total, digit, at) => total + Number(digit) * (at % 2 === 0 ? 3 : 1), 0);
  return `${body}${(10 - (sum % 10)) % 10}`;
}

/** Every calling code of the ITU, with one more digit of a national number behind the shortest. */
const CALLING_CODES = (
  '1 7 20 27 30 31 32 33 34 36 39 40 41 43 44 45 46 47 48 49 51 52 53 54 55 56 57 58 60 61 62 63 64 65 66 81 82 84 86 90 91 ' +
  '92 93 94 95 98 211 212 213 216 218 220 221 222 223 224 225 226 227 228 229 230 231 232 233 234 235 236 237 238 239 240 241 ' +
  '242 243 244 245 246 248 249 250 251 252 253 254 255 256 257 258 260 261 262 263 264 265 266 267 268 269 290 291 297 298 299 ' +
  '350 351 352 353 354 355 356 357 358 359 370 371 372 373 374 375 376 377 378 380 381 382 383 385 386 387 389 420 421 423 500 ' +
  '501 502 503 504 505 506 507 508 509 590 591 592 593 594 595 596 597 598 599 670 672 673 674 675 676 677 678 679 680 681 682 ' +
  '683 685 686 687 688 689 690 691 692 800 808 850 852 853 855 856 870 878 880 881 882 883 886 888 960 961 962 963 964 965 966 ' +
  '967 968 970 971 972 973 974 975 976 977 979 992 993 994 995 996 998'
).split(' ');

const telephone: HonestNumber = (random) => {
  const code = from(random, CALLING_CODES);
  const national = digits(random, between(random, 7, 15 - code.length));
  const grouped = (separator: string): string => national.replace(/\d{3}(?=\d)/g, `$&${separator}`);
  return from(random, [
    `+${code}${national}`,
    `+${code} ${grouped(' ')}`,
    `00${code}-${grouped('-')}`,
    `(+${code}) ${grouped('.')}`,
  ]);
};

const IBAN_LENGTHS = { DE: 20, FR: 25, IT: 25, ES: 22, GB: 20, NL: 16, NO: 13, PL: 26, SE: 22 } as const;

const iban: HonestNumber = (random) => {
  const [country, length] = from(random, Object.entries(IBAN_LENGTHS));
  const bare = `${country}${digits(random, length)}`;
  return random() < 0.5 ? bare : bare.replace(/.{4}(?=.)/g, '$& ');
};

const blanksOrNot = (random: Random, text: string, size: number): string =>
  random() < 0.5 ? text : text.replace(new RegExp(`.{${size}}(?=.)`, 'g'), '$& ');

/** What honest merchants and buyers write where the contract wants an id, a reference, a number to call. */
export const HONEST_NUMBERS = {
  ean13: (random) => withGs1Digit(String(between(random, 0, 999)).padStart(3, '0') + digits(random, 9)),
  germanEan: (random) => withGs1Digit(String(between(random, 400, 440)) + digits(random, 9)),
  japaneseEan: (random) => withGs1Digit(from(random, ['45', '49']) + digits(random, 10)),
  ean8: (random) => withGs1Digit(digits(random, 7)),
  upc: (random) => withGs1Digit(digits(random, 11)),
  gtin14: (random) => withGs1Digit(digits(random, 13)),
  sscc: (random) => withGs1Digit(digits(random, 17)),
  isbn: (random) => {
    const isbn = withGs1Digit(from(random, ['978', '979']) + digits(random, 9));
    return random() < 0.5
      ? isbn
      : `${isbn.slice(0, 3)}-${isbn[3]}-${isbn.slice(4, 8)}-${isbn.slice(8, 12)}-${isbn[12]}`;
  },
  telephone,
  germanMobile: (random) => `+4915${digits(random, between(random, 8, 9))}`,
  uuid: () => randomUUID(),
  epochSeconds: (random) => String(between(random, 1_000_000_000, 4_200_000_000)),
  epochMs: (random) => `order-${between(random, 1, 9)}-${between(random, 1_000_000_000_000, 5_000_000_000_000)}`,
  epochMicroseconds: (random) => String(between(random, 1_000_000_000_000_000, 4_200_000_000_000_000)),
  epochNanoseconds: (random) => `${between(random, 1_000_000_000, 4_200_000_000)}${digits(random, 9)}`,
  iban,
  ups: (random) => `1Z${blanksOrNot(random, digits(random, 16), 4)}`,
  dhl: (random) => from(random, [digits(random, 10), `JJD${digits(random, 18)}`, digits(random, 20)]),
  fedEx: (random) => blanksOrNot(random, digits(random, from(random, [12, 14, 15, 20, 22])), 4),
  shopify: (random) => from(random, ['4', '5', '6', '']) + digits(random, 12),
  amazon: (random) => `${between(random, 100, 999)}-${digits(random, 7)}-${digits(random, 7)}`,
  sap: (random) => from(random, [`45${digits(random, 8)}-${digits(random, 6)}`, `${digits(random, 10)}`]),
  taobao: (random) => `4${digits(random, between(random, 17, 18))}`,
  sixteen: (random) => digits(random, 16),
} as const satisfies Readonly<Record<string, HonestNumber>>;
