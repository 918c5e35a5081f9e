import { ActivityFailure } from '@temporalio/workflow';
import type { FlowState, Refusal } from '../flow/state.js';
import { read } from '../policies.js';
import { decodedOrRetry } from './decoded-or-retry.js';
import type { Creator } from './read-facts.js';

/**
 * Asked before anything is believed of the flow that this run was opened with. Where somebody who opened it by hand has named
 * the flow of another payment, a command would be answered with what was done to that one, or refused for as long as that is open.
 */
export async function madeByAnother(
  flow: FlowState,
  creator: Creator,
  wouldAnswer: boolean,
): Promise<Refusal | undefined> {
  const { businessUnit, madeUnder, paymentId = '' } = flow;
  const { workflowId, made } = creator;
  // Its own result names the payment.
  if (workflowId === undefined || made?.paymentId === paymentId) return undefined;
  if (made === undefined && !wouldAnswer) return undefined;
  try {
    const { holdfastWorkflowId } = decodedOrRetry(await read.getPayment({ businessUnit, madeUnder, paymentId }));
    return ofAnother(flow, creator, holdfastWorkflowId);
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return undefined;
  }
}

/** @param maker as the payment itself names it; a service need not say */
export function ofAnother({ paymentId }: FlowState, creator: Creator, maker: string | undefined): Refusal | undefined {
  const { workflowId, made } = creator;
  if (workflowId === undefined) return undefined;
  const again = 'nothing was sent; open the commands to this payment with its own reference';
  if (maker !== undefined && maker !== workflowId)
    return { refusal: `payment ${paymentId} was made by "${maker}", not by "${workflowId}": ${again}` };
  if (maker === undefined && made !== undefined && made.paymentId !== paymentId)
    return { refusal: `"${workflowId}" has made payment ${made.paymentId}, not ${paymentId}: ${again}` };
  return undefined;
}
