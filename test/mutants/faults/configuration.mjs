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
  {
    name: 'capability-that-is-also-the-token',
    rule: 'configuration',
    promise: 'Who may read in Temporal UI may not write what flows trust: token and capability differ.',
    file: 'src/config/load.ts',
    from: "if (secrets.codecToken !== '' && secrets.codecToken === secrets.codecUiCapability) {",
    to: "if (secrets.codecToken !== '' && secrets.codecUiCapability === '') {",
    tests: ['test/config/codec-config.test.ts'],
  },
  {
    name: 'misspelt-variable-is-ignored',
    rule: 'configuration',
    promise: 'A variable whose name is misspelt, such as that of the reference book, is refused and not ignored.',
    file: 'src/config/load.ts',
    from: 'if (isOwn) faults.push(',
    to: 'if (!isOwn) faults.push(',
    tests: ['test/config/unknown-names.test.ts'],
  },
  {
    name: 'refused-sender-is-not-told',
    rule: 'configuration',
    promise: 'Where a list of senders refuses every event, the log says which address was taken for the sender.',
    file: 'src/webhook/handler.ts',
    from: "reject('sender', { address: sender })",
    to: "reject('sender')",
    tests: ['test/webhook/server.test.ts'],
  },
];
