import fc from 'fast-check';

/** Of all that Unicode has. */
const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0xd7_ff }), fc.integer({ min: 0xe0_00, max: 0x10_ff_ff }))
  .map((codePoint) => String.fromCodePoint(codePoint));

/**
 * Half of them the strings of fast-check, the other half any characters of Unicode. `unit: 'binary'` has them too, but begins
 * with a table of a million, which takes each process seconds.
 */
export function anyText(length: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.oneof(
    fc.string(length),
    fc.array(anyCharacter, length).map((characters) => characters.join('')),
  );
}
