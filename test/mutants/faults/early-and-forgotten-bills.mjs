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
  {
    name: 'early-bill-outlasts-a-cancel',
    rule: 'billing commands',
    promise: 'A cancel at the end of the period leaves a bill unpaid that was charged early, and declined.',
    file: 'workflows/billing/execute-command.ts',
    from: 'earlyUnpaid(flow, at) ?? next',
    to: 'next',
    tests: ['test/simulation/rules/cancels-at-period-end.test.ts'],
  },
  {
    name: 'early-bill-retried-after-a-cancel',
    rule: 'billing commands',
    promise: 'What a cancel at the end of the period leaves unbilled is not tried by itself.',
    file: 'workflows/billing/after-cancel.ts',
    from: 'period >= cancelFrom.period ? cancelFrom.dueAt : ',
    to: '',
    tests: ['test/simulation/rules/cancels-at-period-end.test.ts'],
  },
  {
    name: 'paid-early-bill-cut-short-by-a-cancel',
    rule: 'billing commands',
    promise: 'A subscription that is cancelled lasts until the end of a period that its buyer has paid early.',
    file: 'workflows/billing/classify-attempt.ts',
    from: '  endAfterPaid(flow, open);\n',
    to: '',
    tests: ['test/simulation/rules/cancels-at-period-end.test.ts'],
  },
];
