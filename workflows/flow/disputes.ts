import { setHandler } from '@temporalio/workflow';
import { type DisputeSeen, disputeSeenSchema } from '../../src/contract/disputes.js';
import { WORKFLOW_TYPES } from '../../src/contract/names.js';
import { isSealed } from '../../src/contract/payload-marks.js';
import { readableOrRetry } from '../kit/decoded-or-retry.js';
import { ignore } from '../kit/run.js';
import { disputedSignal } from '../messages.js';
import { onceAllAreIn } from './arrivals.js';
import { noteLength } from './continue.js';
import type { FlowState } from './state.js';

const KEPT_HASHES = 50;

const WAITS_LONG: readonly FlowState['waitingFor'][] = ['approval', 'proof', 'operator'];

/** What says that a payment is disputed is not signed: replayed, one event would keep its refunds from being sent for ever. */
function isReplayed(flow: FlowState, { hash }: DisputeSeen): boolean {
  const { disputesSeen = [] } = flow;
  if (hash === undefined) return false;
  if (disputesSeen.includes(hash)) return true;
  flow.disputesSeen = [...disputesSeen, hash].slice(-KEPT_HASHES);
  return false;
}

/** A chargeback that an event or a statement shows. Only the flow of a payment's commands looks into it. */
export function registerDisputes(flow: FlowState): void {
  setHandler(disputedSignal, (payload) => {
    readableOrRetry(payload, 'news of a dispute');
    const seen = disputeSeenSchema.safeParse(payload);
    const sealed = isSealed(payload);
    onceAllAreIn(flow, 'signal', () => {
      noteLength(flow);
      if (!seen.success || flow.type !== WORKFLOW_TYPES.paymentActions) ignore(flow, 'malformedDispute');
      // Our webhook handler and our commands encrypt it; anybody with access to Temporal can write in clear.
      else if (!sealed) ignore(flow, 'disputeInClear');
      else if (seen.data.paymentId !== flow.reference) ignore(flow, 'otherPayment');
      else if (flow.dispute !== undefined || isReplayed(flow, seen.data)) ignore(flow, 'disputeAgain');
      else {
        const { seenBy } = seen.data;
        // A statement is an acquirer's word; what an event says beside its signature is looked up.
        if (flow.disputeSeen?.by !== 'statement')
          flow.disputeSeen = { by: seenBy, since: Date.now(), times: 0, nextAt: Date.now() };
        // While it is at work it looks afterwards, or between two reads. A person may take weeks, and a refund that the service
        // does not take yet must not be sent any more.
        if (flow.waitingFor === 'command') flow.inbox.push({ kind: 'retryNow' });
        else if (flow.kind === 'refund' || WAITS_LONG.includes(flow.waitingFor))
          flow.inbox.push({ kind: 'retryNow', isOfDispute: true });
      }
    });
  });
}
