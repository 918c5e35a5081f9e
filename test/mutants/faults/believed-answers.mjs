/** What an answer of the service, or the lack of one, is taken to prove. */
export const BELIEVED_ANSWER_FAULTS = [
  {
    name: 'any-body-answers-a-deletion',
    rule: 'answers',
    promise: 'A 2xx with a body is no answer to a deletion: a proxy may have given it, and the card is still on file.',
    file: 'src/provider/http/answers.ts',
    from: "const hasNone = context.bodyless && (answer.status === 204 || text === '');",
    to: 'const hasNone = context.bodyless;',
    tests: ['test/simulation/rules/removed-cards.test.ts'],
  },
  {
    name: 'unread-deletion-is-removed',
    rule: 'answers',
    promise: 'A deletion with an unreadable answer counts only once a read shows that the card is gone.',
    file: 'activities/customers.ts',
    from: '    await refuseIfOnFile(deps, call, error);\n',
    to: '    await refuseIfOnFile(deps, call, error).catch(() => undefined);\n',
    tests: ['test/activities/customers-and-cards.test.ts', 'test/simulation/rules/removed-cards.test.ts'],
  },
  {
    name: 'read-that-is-not-offered-confirms',
    rule: 'settling',
    promise:
      'A reply of provider_error is confirmed by no read that the service does not offer: the money may have moved.',
    file: 'workflows/steps/settle.ts',
    from: 'if (fresh !== undefined) progress.readBack = true;',
    to: 'if (fresh !== undefined || isNotOffered(flow.refusedGets[flow.kind])) progress.readBack = true;',
    tests: ['test/simulation/rules/interface-only-declines.test.ts'],
  },
  {
    name: 'doubted-reply-repeated-without-end',
    rule: 'settling',
    promise: 'A reply of provider_error that nobody can read leads to one repeat under its key.',
    file: 'workflows/steps/settle.ts',
    from: 'if (isInDoubt(known.record, known.knownBy)) progress.repostedInDoubt = true;',
    to: '',
    tests: ['test/simulation/rules/interface-only-declines.test.ts'],
  },
];
