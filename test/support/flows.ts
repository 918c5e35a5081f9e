import type { WorkflowHandle } from '@temporalio/client';
import proto from '@temporalio/proto';
import { startAttributes, startMemo } from '../../src/client/start-options.js';
import type { ChargeInput } from '../../src/contract/charge.js';
import { FLOWS } from '../../src/contract/flows.js';
import { PAYMENTS_TASK_QUEUE, paymentWorkflowId, WORKFLOW_TYPES } from '../../src/contract/names.js';
import type { FaultInput } from '../../sandbox/control.js';
import { resetTo } from './resets.js';
import type { TestStack } from './stack.js';
import { until } from './until.js';

const { EventType } = proto.temporal.api.enums.v1;
type EventName = keyof typeof EventType;

/** The flow of a reference in its present run. */
export function flowOf({ temporal }: TestStack, { reference }: { reference: string }): WorkflowHandle {
  return temporal.workflow.getHandle(paymentWorkflowId(reference));
}

/** Starts a charge without our client, as a service in another language does. */
export async function startRaw({ temporal }: Pick<TestStack, 'temporal'>, input: ChargeInput): Promise<WorkflowHandle> {
  return await temporal.workflow.start(WORKFLOW_TYPES.charge, {
    workflowId: paymentWorkflowId(input.reference),
    taskQueue: PAYMENTS_TASK_QUEUE,
    args: [input],
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
  });
}

/** Starts a charge as our client does, but without the question that goes along with it. */
export async function startUnasked({ temporal }: Pick<TestStack, 'temporal'>, input: ChargeInput): Promise<void> {
  const parsed = FLOWS.charge.schema.parse(input);
  await temporal.workflow.start(WORKFLOW_TYPES.charge, {
    workflowId: paymentWorkflowId(input.reference),
    taskQueue: PAYMENTS_TASK_QUEUE,
    args: [parsed],
    workflowIdReusePolicy: 'REJECT_DUPLICATE',
    memo: startMemo(FLOWS.charge.fingerprint(parsed)),
    typedSearchAttributes: startAttributes(parsed),
  });
}

/** Event ids of one type in the flow's present run; empty while there is no such flow. */
export async function eventIds(stack: TestStack, input: { reference: string }, type: EventName) {
  try {
    const { events } = await flowOf(stack, input).fetchHistory();
    return (events ?? []).filter(({ eventType }) => eventType === EventType[type]).map(({ eventId }) => eventId);
  } catch (error) {
    if (/not found/i.test(String(error))) return [];
    throw error;
  }
}

/** Resolves once the flow's present run has `count` events of a type. */
export async function untilEvent(
  stack: TestStack,
  input: { reference: string },
  type: EventName,
  count = 1,
): Promise<void> {
  await until(
    () => eventIds(stack, input, type),
    (ids) => ids.length >= count,
  );
}

/** Resets the flow to one of its completed workflow tasks, counted as `Array.at` counts. */
export async function resetToTask(stack: TestStack, input: { reference: string }, index: number): Promise<void> {
  const task = (await eventIds(stack, input, 'EVENT_TYPE_WORKFLOW_TASK_COMPLETED')).at(index);
  await resetTo(stack.temporal, { workflowId: paymentWorkflowId(input.reference) }, task);
}

/** A fault that one charge meets once; `met` resolves when it has. */
export async function plantOnce({ sandbox }: TestStack, input: { reference: string }, fault: FaultInput) {
  const { id } = await sandbox.addFault({ ...fault, reconciliation_id: input.reference, times: 1 });
  const fired = async () => (await sandbox.faults()).some((planted) => planted.id === id && planted.fired > 0);
  return { id, met: async () => void (await until(fired, (yes) => yes)) };
}
