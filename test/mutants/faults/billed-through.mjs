const SIMULATED = ['test/simulation/rules/billed-through.test.ts'];
const CHECKED = ['test/domain/billed-through.test.ts'];
const IMPORT = ['test/simulation/rules/import.test.ts'];

/** Subscriptions that were billed elsewhere before. */
export const BILLED_THROUGH_FAULTS = [
  {
    name: 'first-period-billed-though-billed-before',
    rule: 'one period is billed once',
    promise: 'No period up to billedThrough is ever billed.',
    file: 'workflows/billing/handlers.ts',
    from: 'next: billedThrough + 1,',
    to: 'next: 1,',
    tests: SIMULATED,
  },
  {
    name: 'period-of-the-very-day-counts-as-unbilled',
    rule: 'one period is billed once',
    promise: 'A period that begins on the day of billedThrough was billed.',
    file: 'src/domain/billed-through.ts',
    from: 'if (dateOf(plan, middle) <= billedThrough)',
    to: 'if (dateOf(plan, middle) < billedThrough)',
    tests: CHECKED,
  },
  {
    name: 'bill-now-of-what-was-billed-before',
    rule: 'one period is billed once',
    promise: 'No command bills what was billed before, and the refusal says why.',
    file: 'workflows/billing/execute-on-bill.ts',
    from: '  if (period <= flow.billedThrough) return { refusal: billedBefore(period) };\n',
    to: '',
    tests: SIMULATED,
  },
  {
    name: 'gap-after-billed-through-needs-no-word',
    rule: 'billing calendar',
    promise: 'A first period to bill that began in the past needs missedPeriods.',
    file: 'src/domain/check-subscription.ts',
    from: 'if (missedPeriods !== undefined || date === undefined || date >= today) return [];',
    to: 'if (missedPeriods !== undefined || billedThrough !== undefined || date === undefined || date >= today) return [];',
    tests: CHECKED,
  },
  {
    name: 'billed-through-is-no-other-request',
    rule: 'money rule 2',
    promise: 'The same reference with another billedThrough is a conflict.',
    file: 'src/contract/flows.ts',
    from: '...(billedThrough === undefined ? [] : [billedThrough])',
    to: '...[]',
    tests: CHECKED,
  },
  {
    name: 'import-starts-beside-faults',
    rule: 'import of subscriptions',
    promise: 'Nothing is started while any line is at fault.',
    file: 'src/cli/import-subscriptions.ts',
    from: 'if (all.length > 0) throw',
    to: 'if (all.length > lines.length) throw',
    tests: IMPORT,
  },
  {
    name: 'import-takes-what-it-started-for-too-late',
    rule: 'import of subscriptions',
    promise: 'A line that was started before is joined, also on a day on which it could not be started any more.',
    file: 'src/cli/import-subscriptions.ts',
    from: 'late.length === 0 || (await calls.isKnown({ workflowId }))',
    to: 'late.length === 0 || (await calls.isKnown({ workflowId: `${workflowId}-` }))',
    tests: IMPORT,
  },
];
