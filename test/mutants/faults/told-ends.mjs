/** What runs and flows that have ended still tell. */
export const TOLD_END_FAULTS = [
  {
    name: 'unreadable-end-taken-for-none',
    rule: 'after a reset',
    promise: 'A worker that cannot read what the run before a reset has told sends nothing on that.',
    file: 'src/client/told-end.ts',
    from: 'if (isReadableElsewhere(result))\n    throw',
    to: 'if (isReadableElsewhere(result)) return undefined;\n  if (result === UNNAMED)\n    throw',
    tests: ['test/client/told-end.test.ts'],
  },
  {
    name: 'forgotten-run-taken-for-silent',
    rule: 'after a reset',
    promise: 'A run that a reset has replaced and Temporal has forgotten may have told its end: nothing is sent on it.',
    file: 'src/client/told-end.ts',
    from: 'if (forgotten !== undefined)',
    to: 'if (forgotten === ownRunId)',
    tests: ['test/client/told-end.test.ts'],
  },
];
