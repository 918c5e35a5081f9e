import {
  type Client,
  WithStartWorkflowOperation,
  WorkflowExecutionAlreadyStartedError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { cutAttribute } from '../contract/cut-attribute.js';
import type { OutgoingDay } from '../contract/engine-port.js';
import { FAILURE_TYPES, UPDATE_NAMES } from '../contract/names.js';
import { type CountedOutgoing, type CountOutgoing, OUTGOING_FLOW } from '../contract/outgoing.js';
import { isSealed, NOT_FOR_THIS_FLOW } from '../contract/payload-marks.js';
import { keyword } from './start-options.js';

type Counting = (input: OutgoingDay) => Promise<unknown>;

/**
 * Counts a credit or refund at the flow of its unit and day, and starts that flow if nothing was counted yet.
 * @throws Error when Temporal does not answer, or somebody else answers in the place of that flow
 */
export async function countOutgoing(
  client: Client,
  input: OutgoingDay,
  asked: CountOutgoing,
): Promise<CountedOutgoing | 'dayIsOver'> {
  const { type, title, taskQueue, workflowId } = OUTGOING_FLOW;
  const { businessUnit, day } = input;
  try {
    const answer = await client.workflow.executeUpdateWithStart<Counting, CountedOutgoing, [CountOutgoing]>(
      UPDATE_NAMES.countOutgoing,
      {
        args: [asked],
        startWorkflowOperation: new WithStartWorkflowOperation<Counting>(type, {
          workflowId: workflowId(input),
          taskQueue,
          args: [input],
          workflowIdConflictPolicy: 'USE_EXISTING',
          // A second flow of the day would begin at nothing.
          workflowIdReusePolicy: 'REJECT_DUPLICATE',
          typedSearchAttributes: [{ key: keyword('BusinessUnit'), value: cutAttribute(businessUnit) }],
          staticSummary: `${title} ${businessUnit} on ${day}`,
        }),
      },
    );
    if (isSealed(answer)) return answer;
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError || countsNoMore(error)) return 'dayIsOver';
    throw error;
  }
  throw new Error(`the answer of the counter ${workflowId(input)} ${NOT_FOR_THIS_FLOW}: no worker of ours runs it`);
}

/** It was begun again, or reset: only another day's counter counts. */
function countsNoMore(error: unknown): boolean {
  const cause = error instanceof WorkflowUpdateFailedError ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === FAILURE_TYPES.stateConflict;
}
