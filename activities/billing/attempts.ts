import type { FlowReading, RefundOfPayment, RefundReading } from '../../src/contract/engine-port.js';
import { isUndecodable } from '../../src/contract/undecodable.js';
import type { ActivityDeps } from '../deps.js';

/** @throws Error (retried) until a worker that has the key for the result takes over */
export async function readAttempt({ engine }: ActivityDeps, workflowId: string): Promise<FlowReading> {
  const reading = await engine.readFlow(workflowId);
  if (reading.state !== 'ended' || !isUndecodable(reading.outcome)) return reading;
  throw new Error(`The outcome of ${workflowId} can't be decoded by this worker; give it the missing key`);
}

/** @throws ApplicationFailure when the engine does not answer (retried) */
export async function refundBill({ engine }: ActivityDeps, call: RefundOfPayment): Promise<RefundReading> {
  return await engine.refund(call);
}
