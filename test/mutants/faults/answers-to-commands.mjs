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
];
