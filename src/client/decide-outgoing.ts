import { randomUUID } from 'node:crypto';
import { type Approval, approvalSchema, type Approved } from '../contract/messages.js';
import { UPDATE_NAMES } from '../contract/names.js';
import type { FlowCalls, FlowRef } from './flow-calls.js';
import { checkInput } from './start-options.js';

/** Approves or rejects. Under an update id of its own: the server would give one the answer of the other. */
export async function decideOutgoing(
  calls: FlowCalls,
  flow: FlowRef,
  name: 'approve' | 'reject',
  decision: Approval,
): Promise<Approved> {
  return await calls.update<Approved>(flow, UPDATE_NAMES[name], checkInput(approvalSchema, decision), randomUUID());
}
