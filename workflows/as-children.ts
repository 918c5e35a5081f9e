import {
  ApplicationFailure,
  ChildWorkflowCancellationType,
  ChildWorkflowFailure,
  ParentClosePolicy,
  proxyActivities,
  sleep,
  startChild,
  TerminatedFailure,
  workflowInfo,
} from '@temporalio/workflow';
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import type { ChildFlow, ChildFlows, FlowActivities } from '../src/contract/child-flows.js';
import { faultsOf } from '../src/contract/fields.js';
import { FLOWS, type RepeatableFlow } from '../src/contract/flows.js';
import { ASK_FLOW_ACTIVITY, FAILURE_TYPES, MEMO_KEYS } from '../src/contract/names.js';
import { isUndecodable, whyUndecodable } from '../src/contract/payload-marks.js';
import { pollDelay } from '../src/domain/schedules.js';
import { showMoney } from '../src/domain/money.js';
import { invalidInput } from './kit/start-guard.js';
import { startedAttributes } from './kit/visibility.js';

export type { ChildFlow, ChildFlows } from '../src/contract/child-flows.js';

/** Marks flows that a merchant's workflow has started with reuse policy "reject duplicate". */
const STARTED_BY = 'holdfast-parent';

const asks = proxyActivities<FlowActivities>({
  startToCloseTimeout: '1 minute',
  retry: {
    nonRetryableErrorTypes: [
      FAILURE_TYPES.invalidInput,
      FAILURE_TYPES.referenceConflict,
      FAILURE_TYPES.notFound,
      FAILURE_TYPES.stateConflict,
      'FlowNotFound',
      'FlowStopped',
    ],
  },
});

/**
 * Runs a flow of Holdfast as a child of your workflow, and waits for its final outcome however long that takes: an
 * `unknown` is no outcome. For a worker made by `createHoldfastWorkers`, on whose encryption and connection it rests.
 *
 * The same reference is the same payment: if a flow of it is there already, because your workflow was reset or another
 * service has asked first, its outcome is answered, and nothing is sent twice. The child outlives your workflow, and a
 * cancel of yours does not reach it: to undo a payment send a void or a refund.
 * @throws ApplicationFailure `InvalidInput` with every fault, before anything is started; `UnexpectedResponse` for an
 * answer that nobody can decode
 * @throws ChildWorkflowFailure, ActivityFailure whose `cause` is an ApplicationFailure of the types in `FAILURE_TYPES`,
 * or `FlowStopped` (terminated) or `FlowNotFound` (gone since it was started): look the payment up
 */
export async function executeFlow<Flow extends ChildFlow>(
  name: Flow,
  input: ChildFlows[Flow]['input'],
): Promise<ChildFlows[Flow]['outcome']> {
  const flow: RepeatableFlow<Flow, never> = FLOWS[name] as never;
  const parsed = flow.schema.safeParse(input);
  if (!parsed.success) throw invalidInput(faultsOf(parsed.error));
  const subject = flow.subject(parsed.data);
  const workflowId = flow.workflowId(parsed.data);
  // It would wait for itself.
  if (workflowInfo().workflowId === workflowId)
    throw invalidInput([`workflow id: "${workflowId}" is the id of the flow itself; give your workflow another one`]);
  try {
    const child = await startChild(flow.type, {
      workflowId,
      taskQueue: flow.taskQueue,
      args: [input],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      cancellationType: ChildWorkflowCancellationType.ABANDON,
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      memo: { [MEMO_KEYS.fingerprint]: flow.fingerprint(parsed.data), [MEMO_KEYS.startedBy]: STARTED_BY },
      typedSearchAttributes: startedAttributes(subject),
      staticSummary: `${flow.title} ${showMoney(subject.amount, subject.currency)}, ${subject.reference}`,
    });
    return decoded((await child.result()) as ChildFlows[Flow]['outcome']);
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return await joinFlow(name, input);
    // It may have been made anew by a reset. If not, whoever started it is told the same as whoever joins it.
    if (error instanceof ChildWorkflowFailure && error.cause instanceof TerminatedFailure)
      return await joinFlow(name, input);
    throw error;
  }
}

async function joinFlow<Flow extends ChildFlow>(
  name: Flow,
  input: ChildFlows[Flow]['input'],
): Promise<ChildFlows[Flow]['outcome']> {
  for (let looks = 0; ; looks += 1) {
    const { outcome, final } = decoded(await asks[ASK_FLOW_ACTIVITY](name, input));
    if (final) return outcome as ChildFlows[Flow]['outcome'];
    await sleep(pollDelay(looks), { summary: 'Until the next look at the payment' });
  }
}

/**
 * What another worker may be able to decode never gets here: the payload converter of a merchant's worker fails the task.
 * @throws ApplicationFailure for what no worker can decode
 */
function decoded<Answer>(answer: Answer): Answer {
  if (!isUndecodable(answer)) return answer;
  throw ApplicationFailure.nonRetryable(
    `The flow has answered, and nobody can decode it (${whyUndecodable(answer)}): look the payment up`,
    FAILURE_TYPES.unexpectedResponse,
  );
}
