import { expect, test } from 'vitest';
import type { FlowState } from '../../workflows/flow/state.js';
import { forgetOldCommands } from '../../workflows/flow/refuse.js';

test('what was approved is forgotten with its command: the next one of the same id needs an approval of its own', () => {
  const refused = Array.from({ length: 102 }, (_, at) => {
    return { commandId: `c${at}`, name: 'refund', request: {}, answer: { refusal: 'by the service' } } as const;
  });
  const decided = { who: 'Grace', why: 'case 17', decision: 'approved', at: '2026-11-26T00:00:00.000Z' } as const;
  const of = (commandId: string) => ({ commandId, ...decided });
  const flow: Pick<FlowState, 'commands' | 'approvals'> = {
    commands: new Map(refused.map((command) => [command.commandId, command])),
    approvals: { c1: of('c1'), c2: of('c2') },
  };
  forgetOldCommands(flow);
  expect([...flow.commands.keys()].slice(0, 2)).toEqual(['c2', 'c3']);
  expect(flow.approvals).toEqual({ c2: of('c2') });
});
