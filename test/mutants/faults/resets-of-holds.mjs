const AMID = ['test/simulation/rules/resets-amid-reauthorizations.test.ts'];

/** Resets of holds that are reauthorized: what the run before did, and what was asked of it. */
export const RESET_HOLD_FAULTS = [
  {
    name: 'void-of-a-hold-found-late-is-not-looked-at',
    rule: 'money rule 8',
    promise: 'A hold that a reset run has found again is read before a void, also a moment after it was found.',
    file: 'workflows/steps/inspect-hold.ts',
    from: ' < LOOK_AFTER_MS && !hold.isLate;',
    to: ' < LOOK_AFTER_MS;',
    tests: AMID,
  },
  {
    name: 'cancel-before-the-reset-forgotten',
    rule: 'money rule 8',
    promise: 'A cancel from before a reset still counts: what was held is not captured or held again.',
    file: 'workflows/steps/hold-steps.ts',
    from: 'return flow.isCancelled() || (hold.sentBefore?.cancelled === true && !isReplaced(hold.sentBefore, hold));',
    to: 'return flow.isCancelled();',
    tests: AMID,
  },
  {
    name: 'proof-that-a-hold-is-gone-asks-no-history',
    rule: 'money rule 3',
    promise: 'After a reset the histories are asked before money is held again.',
    file: 'workflows/steps/reauthorize-hold.ts',
    from: "if (payment?.status === 'Voided') return await withSentBefore(flow, hold, ended);",
    to: "if (payment?.status === 'Voided') return ended;",
    tests: AMID,
  },
  {
    name: 'replaced-hold-is-waited-for',
    rule: 'money rule 8',
    promise: 'A hold that was replaced before a reset makes room for its successor, whatever lists the service offers.',
    file: 'workflows/steps/inspect-hold.ts',
    from: "wasReplaced(hold) && hold.mustVoid !== 'reauthorize';",
    to: 'wasReplaced(hold);',
    tests: AMID,
  },
  {
    name: 'reauthorizations-turned-round',
    rule: 'commands',
    promise: 'Reauthorizations that a reset gives again are carried out in their order.',
    file: 'workflows/flow/command-handlers.ts',
    from: 'flow.queue.splice(flow.queue.findLastIndex(isReauthorization) + 1, 0, made);',
    to: 'flow.queue.unshift(made);',
    tests: AMID,
  },
];
