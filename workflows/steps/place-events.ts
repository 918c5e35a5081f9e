import { ActivityFailure } from '@temporalio/workflow';
import type { TransactionEvent } from '../../src/contract/messages.js';
import type { EventDelivery, ParkReason } from '../../src/contract/parked-event.js';
import { judgeLateEvent } from '../../src/domain/late-events.js';
import { resourceOf } from '../../src/domain/transitions.js';
import type { FlowState } from '../flow/state.js';
import { enter, publish } from '../flow/visibility.js';
import { delivery } from '../policies.js';
import { decodedOrRetry } from './decoded-or-retry.js';

/**
 * Events that were acknowledged to the service, now that no command is under way: nobody else will hear of them. What
 * contradicts an answer that was given, and what neither a command here nor the flow that made the payment knows, is for a
 * person: somebody else moves money of this payment.
 */
export async function placeEvents(flow: FlowState): Promise<void> {
  const { unplaced = [] } = flow;
  for (let event = unplaced[0]; event !== undefined && flow.queue.length === 0; event = unplaced[0]) {
    const why = await whyForAPerson(flow, event);
    // A later one about the same transaction may have taken its place meanwhile.
    if (unplaced[0] === event) unplaced.shift();
    if (why === undefined) continue;
    flow.lasting = flow.lasting === undefined ? why : withOneMore(flow.lasting, why);
    enter(flow, { needsOperator: flow.lasting });
    publish(flow);
  }
}

const LONGEST_REASON = 1_000;

/** Each alarm counts: a person who has looked into the first one alone must not take them all away. */
function withOneMore(reasons: string, why: string): string {
  if (reasons.includes(why)) return reasons;
  const all = `${reasons}; and ${why}`;
  return all.length <= LONGEST_REASON || reasons.endsWith(AND_MORE) ? all.slice(0, LONGEST_REASON) : reasons + AND_MORE;
}

const AND_MORE = '; and there are more such events: look at the payment in the back office of the service';

async function whyForAPerson(flow: FlowState, event: TransactionEvent): Promise<string | undefined> {
  const { transactionId, status, trusted } = event;
  if (event.businessUnit !== flow.businessUnit || event.paymentId !== flow.paymentId) return undefined;
  if (transactionId === undefined || transactionId === event.paymentId) return undefined;
  const isOurs = flow.actions.some(({ outcome }) => outcome.transactionId === transactionId);
  if (isOurs) {
    const contradicts = trusted && judgeLateEvent(event, { result: { actions: flow.actions } }) === 'contradicts';
    return contradicts
      ? `an event calls transaction ${transactionId} ${status}, and its command was answered otherwise`
      : undefined;
  }
  const delivery = await handOn(flow, event);
  if (delivery.result !== 'unclaimed' || (!trusted && delivery.reason === 'lookUpFailed')) return undefined;
  const named = `an event calls ${resourceOf(event.eventType) ?? 'transaction'} ${transactionId} ${status ?? 'changed'}`;
  return `${named}, which no command here has made; ${WHY[delivery.reason](delivery.workflowId ?? 'its flow')}`;
}

const WHY: Readonly<Record<ParkReason, (workflowId: string) => string>> = {
  unknownTransaction: (workflowId) => `"${workflowId}" does not know it either`,
  contradictsResult: (workflowId) => `"${workflowId}" has ended otherwise`,
  flowNotFound: (workflowId) => `"${workflowId}", which made the payment, is not known any more`,
  lookUpFailed: () => 'the service did not say which flow made the payment',
};

async function handOn({ workflowId }: FlowState, event: TransactionEvent): Promise<EventDelivery> {
  try {
    return decodedOrRetry(await delivery.deliverEvent({ event, except: workflowId }));
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return { result: 'unclaimed', reason: 'lookUpFailed' };
  }
}
