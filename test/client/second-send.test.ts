import { type Client, type WithStartWorkflowOperation, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure, TypedSearchAttributes } from '@temporalio/common';
import { expect, test } from 'vitest';
import { Deadlines } from '../../src/client/deadlines.js';
import { sendCommand } from '../../src/client/send-command.js';
import { keyword } from '../../src/client/start-options.js';
import { FAILURE_TYPES, MEMO_KEYS, paymentWorkflowId } from '../../src/contract/names.js';
import { markSealed } from '../../src/contract/payload-marks.js';

const MADE = {
  runId: 'made',
  workflowId: paymentWorkflowId('order'),
  status: { name: 'COMPLETED' },
  memo: {},
  typedSearchAttributes: new TypedSearchAttributes([
    { key: keyword('PaymentId'), value: '7b1f5f0e-0000-4000-8000-000000000001' },
    { key: keyword('Currency'), value: 'USD' },
  ]),
};

/** A Temporal in which each command opens a run, since the one before has closed; the first is refused for a moment. */
function closingAtOnce(takenOver: unknown[]): Client {
  const refused = ApplicationFailure.nonRetryable('it closes: give it again', FAILURE_TYPES.stateConflict);
  const runs = ['before'];
  const describe = async () => ({ ...MADE, runId: runs.at(-1) });
  const workflow = {
    getHandle: (workflowId: string) => ({ describe: workflowId === MADE.workflowId ? async () => MADE : describe }),
    startUpdateWithStart: async (
      _name: string,
      { startWorkflowOperation }: { startWorkflowOperation: WithStartWorkflowOperation<() => Promise<unknown>> },
    ) => {
      takenOver.push(startWorkflowOperation.options.memo?.[MEMO_KEYS.takesOver]);
      const isFirst = runs.push(`run ${runs.length}`) === 2;
      const result = async () => {
        if (isFirst) throw new WorkflowUpdateFailedError('refused', refused);
        return markSealed({ status: 'succeeded' });
      };
      return { result };
    },
  };
  return { workflow, withDeadline: (_at: number, call: () => unknown) => call() } as unknown as Client;
}

test('a command that is given again takes over from the run that has just refused it', async () => {
  const takenOver: unknown[] = [];
  const client = closingAtOnce(takenOver);
  const request = { commandId: 'one', amount: 100 };
  const sent = { name: 'refund', request, until: Date.now() + 10_000 } as const;
  expect(await sendCommand(client, new Deadlines(client), 'order', sent)).toMatchObject({ status: 'succeeded' });
  expect(takenOver).toEqual(['before', 'run 1']);
});
