/** Bills and commands that come later than they were meant. */
export const LATE_BILL_FAULTS = [
  {
    name: 'skip-of-before-the-look-ups-refused',
    rule: 'billing commands',
    promise: 'What was accepted before card and customer could be looked up is judged as of then.',
    file: 'workflows/billing/execute-command.ts',
    from: 'return beforeOpened === true ? at : undefined;',
    to: 'return undefined;',
    tests: ['test/simulation/rules/unopened.test.ts'],
  },
  {
    name: 'moved-bill-beside-the-next-one',
    rule: 'billing commands',
    promise: 'A bill that has moved to another build is not charged beside the next period.',
    file: 'workflows/billing/collect-bill.ts',
    from: 'open.moved === true && flow.billing === undefined && isOverdue(flow, open, Date.now())',
    to: 'false',
    tests: ['test/simulation/rules/move-on.test.ts'],
  },
  {
    name: 'billed-before-a-reset-called-missed',
    rule: 'billing commands',
    promise: 'After a reset no period that was billed is called missed.',
    file: 'workflows/billing/bill-in-this-run.ts',
    from: 'if (flow.afterReset === true && (await followOneBilled(flow, due.missed.last, due.bill === undefined)))\n      return undefined;',
    to: '',
    tests: ['test/simulation/rules/resets-with-gaps.test.ts'],
  },
  {
    name: 'early-bill-given-up-before-it-is-due',
    rule: 'dunning',
    promise: 'A bill that was charged early, and declined, ends no subscription before it is due.',
    file: 'workflows/billing/classify-attempt.ts',
    from: 'if (dueAt === undefined || now >= dueAt ||',
    to: 'if (dueAt === undefined || dueAt > 0 ||',
    tests: ['test/time/subscription-commands.test.ts'],
  },
];
