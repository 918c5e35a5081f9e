/** Bills that were charged before they are due, tried too late, or whose payments Temporal has forgotten. */
export const EARLY_AND_FORGOTTEN_FAULTS = [
  {
    name: 'cancel-after-a-reset-taken-for-an-old-one',
    rule: 'billing commands',
    promise: 'A cancel at the end of a period that is given after a reset ends the subscription no sooner.',
    file: 'workflows/billing/execute-command.ts',
    from: 'again !== true && first !== undefined',
    to: 'flow.resetAt === undefined && first !== undefined',
    tests: ['test/simulation/rules/resets-of-cancelled.test.ts'],
  },
];
