/** What commands of operators do to flows, and say of them: bulks, brakes, approvals. */
export const OPERATOR_FAULTS = [
  {
    name: 'bulk-by-the-run-before',
    rule: 'bulks',
    promise: 'A bulk gives its command to no subscription whose next run is listed and does not match its query.',
    file: 'src/client/bulk-port.ts',
    from: 'if (input.query === undefined) return',
    to: "if (input.query !== '') return",
    tests: ['test/simulation/rules/bulk.test.ts'],
  },
  {
    name: 'brakes-given-again-by-a-reset',
    rule: 'brakes',
    promise: 'A reset of the flow of the brakes brakes no unit again that was released since.',
    file: 'workflows/brakes.ts',
    from: 'validate: refuseGivenAgain,',
    to: 'validate: () => undefined,',
    tests: ['test/simulation/rules/written-in-clear.test.ts'],
  },
  {
    name: 'brakes-set-back-by-their-own-memo',
    rule: 'brakes',
    promise: 'A run of the brakes that takes a brake while it is looked at is not taken for one that was set back.',
    file: 'src/client/brakes.ts',
    from: 'if (run.runId === latest || !isOurs(run)) continue;',
    to: 'if (!isOurs(run)) continue;',
    tests: ['test/workers/brakes.test.ts'],
  },
  {
    name: 'approval-of-another-application',
    rule: 'limits of what is sent to cards',
    promise: 'A decision is given to no workflow of another application that has the name of a payment.',
    file: 'src/cli/approvals.ts',
    from: 'found.filter(isOurs).map',
    to: 'found.slice(0, 1).map',
    tests: ['test/simulation/rules/approvals-by-command.test.ts'],
  },
];
