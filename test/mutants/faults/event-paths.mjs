/** What comes by an event, a statement or a signal, and must not be lost or passed over on its way to where it counts. */
export const EVENT_PATH_FAULTS = [
  {
    name: 'refund-goes-on-beside-a-chargeback',
    rule: 'money rule 8',
    promise: 'A refund that the service does not take yet is not sent any more once a chargeback is known.',
    file: 'workflows/steps/planned-action.ts',
    from: '      whyDisputed(flow, command) !== undefined,\n',
    to: '      (flow.dispute?.passedOn === true && whyDisputed(flow, command) !== undefined),\n',
    tests: ['test/simulation/rules/dispute-races.test.ts'],
  },
  {
    name: 'chargeback-wakes-no-refund',
    rule: 'money rule 8',
    promise: 'A chargeback ends the tries of a refund that is being sent: its activity does not look by itself.',
    file: 'workflows/flow/disputes.ts',
    from: "flow.waitingFor === 'approval' || flow.kind === 'refund')",
    to: "flow.waitingFor === 'approval' || flow.kind === 'credit')",
    tests: ['test/simulation/rules/dispute-races.test.ts'],
  },
  {
    name: 'chargeback-lost-while-the-service-is-away',
    rule: 'webhooks',
    promise: 'A chargeback is passed on though the service does not say whose payment it is, if Temporal does.',
    file: 'src/webhook/disputes.ts',
    from: "const owner = 'owner' in asked ? asked.owner : 'foreign';",
    to: "if ('failure' in asked) throw asked.failure;\n  const { owner } = asked;",
    tests: ['test/webhook/disputes.test.ts'],
  },
];
