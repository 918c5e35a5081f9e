/** What the configuration refuses, because it would be something else than what was meant. */
export const CONFIGURATION_FAULTS = [
  {
    name: 'key-that-stands-twice-is-dropped',
    rule: 'configuration',
    promise: 'A business unit, or a field of one, that stands twice is refused: none is dropped without a word.',
    file: 'src/config/read-units.ts',
    from: 'if (inner.keys.has(key))',
    to: 'if (inner.keys.has(key) && open.length > 2)',
    tests: ['test/config/business-units.test.ts'],
  },
];
