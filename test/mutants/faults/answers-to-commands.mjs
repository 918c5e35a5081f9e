/** What those who gave a command, or asked for a decision, are answered and told. */
export const COMMAND_ANSWER_FAULTS = [
  {
    name: 'failed-analysis-called-a-review-by-the-provider',
    rule: 'no outcome is invented',
    promise: 'An analysis that has failed is not told as a review that the provider has asked for.',
    file: 'workflows/steps/review.ts',
    from: "onTimeout === 'leave' && isUnderReview(record)",
    to: "onTimeout === 'leave' && record !== undefined",
    tests: ['test/time/review.test.ts'],
  },
  {
    name: 'unreadable-answer-without-its-command',
    rule: 'money rule 3',
    promise: 'A command whose answer can not be read is repeated as the same command.',
    file: 'src/client/errors.ts',
    from: ", 'ProviderUnavailable', 'UnexpectedResponse']",
    to: ", 'ProviderUnavailable']",
    tests: ['test/simulation/rules/refunds.test.ts'],
  },
  {
    name: 'unknown-refund-answered-for-ever',
    rule: 'commands',
    promise: 'The same command asks again about its refund whose outcome was unknown.',
    file: 'workflows/billing/execute-command.ts',
    from: "(status === 'pending' || status === 'unknown')",
    to: "status === 'pending'",
    tests: ['test/simulation/rules/refund-period.test.ts'],
  },
];
