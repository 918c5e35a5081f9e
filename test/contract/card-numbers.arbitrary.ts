import fc from 'fast-check';

/** Issuer prefixes and lengths, written down here again so that the detector's own table can't vouch for itself. */
const SAMPLES: readonly (readonly [string, readonly number[]])[] = [
  ['4', [16, 19]],
  ...['51', '52', '53', '54', '55', '2221', '2229', '2300', '2699', '2720'].map((p) => [p, [16]] as const),
  ['34', [15]],
  ['37', [15]],
  ...['6011', '644', '649', '65'].map((p) => [p, [16, 17, 18, 19]] as const),
  ...['300', '305', '3095', '36', '38', '39'].map((p) => [p, [14, 16, 19]] as const),
  ...['3528', '3589'].map((p) => [p, [16, 19]] as const),
  ['62', [16, 17, 18, 19]],
  ...['5018', '5020', '5038', '6304', '6759', '6761', '6763'].map((p) => [p, [16, 18, 19]] as const),
];

/** Valid card numbers of every scheme, as bare digits. */
const cardNumber: fc.Arbitrary<string> = fc.constantFrom(...SAMPLES).chain(([prefix, lengths]) =>
  fc.constantFrom(...lengths).chain((length) => {
    const free = length - prefix.length - 1;
    return fc
      .array(fc.integer({ min: 0, max: 9 }), { minLength: free, maxLength: free })
      .map((digits) => withCheckDigit(prefix + digits.join('')));
  }),
);

/** A card number as people write it: bare, in fours, sixes or eights, or as American Express groups, with a separator. */
export const writtenCardNumber: fc.Arbitrary<string> = fc
  .tuple(cardNumber, fc.constantFrom('', ' ', '-', '.', '\u00a0', ' - '), fc.constantFrom([4], [4, 6, 5], [6], [8]))
  .map(([number, separator, sizes]) =>
    grouped(number, separator, number.length > 15 && sizes.length > 1 ? [4] : sizes),
  );

function grouped(number: string, separator: string, sizes: readonly number[]): string {
  const groups: string[] = [];
  for (let at = 0, i = 0; at < number.length; i++) {
    const size = sizes[i % sizes.length] ?? 4;
    groups.push(number.slice(at, at + size));
    at += size;
  }
  return groups.join(separator);
}

function withCheckDigit(body: string): string {
  for (let digit = 0; digit <= 9; digit++) {
    const digits = `${body}${digit}`.split('').reverse().map(Number);
    const sum = digits.reduce((total, d, i) => {
      if (i % 2 === 0) return total + d;
      return total + (d * 2 > 9 ? d * 2 - 9 : d * 2);
    }, 0);
    if (sum % 10 === 0) return `${body}${digit}`;
  }
  throw new Error('no check digit fits');
}
