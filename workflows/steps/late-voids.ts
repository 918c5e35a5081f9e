import { commandSequence, idempotencyKey } from '../../src/contract/idempotency.js';
import type { FinalStepOutcome } from '../../src/contract/outcome.js';
import { showMoney } from '../../src/domain/money.js';
import { sumsOf } from '../../src/domain/payment-sums.js';
import { hasFailed } from '../../src/domain/settling.js';
import { announceCommand } from '../flow/announce.js';
import { addLasting } from '../flow/new-state.js';
import type { FlowState, PendingVoids } from '../flow/state.js';
import {
  actionsOf,
  alreadyDone,
  type Creator,
  creatorsWord,
  noteNews,
  madeBefore,
  othersOf,
  ownIds,
  type ReadFacts,
} from './earlier-actions.js';
import { readFacts } from './read-facts.js';
import { endOfVoids, listVoids, type PlanVoid } from './void-pending.js';

/**
 * Plans the void of a capture by `paymentActions` while that capture is pending. The void could undo any other capture
 * as well, so the payment is read at the moment of the void. The void's key is made of its command, because a later run
 * of the flow counts from 1 again.
 * @param beside why the void was ruled out when the capture was sent: a list that is read later may lag
 */
export function planLateVoid(flow: FlowState, creator: Creator, beside: string | undefined): PlanVoid {
  return async (command) => {
    const open = await creatorsWord(flow, creator, creator.workflowId);
    const answer = alreadyDone(flow, creator, command);
    if (answer !== undefined) return { answer };
    const sequence = commandSequence(command.commandId);
    const actions = actionsOf(flow, creator);
    const own = ownIds(actions, 'void');
    const facts = await readFacts(flow, creator);
    if ('refusal' in facts || 'unreadable' in facts) {
      const whyNot = 'refusal' in facts ? facts.refusal : `what was captured can not be read: ${facts.unreadable}`;
      return { plan: { sequence, own, amount: flow.stepAmount }, whyNot };
    }
    const key = idempotencyKey(flow.workflowId, 'void', sequence);
    const noted = othersOf(facts.voids, own, key, `void-${sequence}`);
    const made = madeBefore(flow, command, sequence, facts, actions);
    const refusal = open !== undefined && 'refusal' in open ? open.refusal : undefined;
    const { authorized: amount } = sumsOf(facts, actions);
    const unlisted = amount === 0 ? 'the service does not list yet what is held' : undefined;
    const other = otherCapture(flow, creator, facts, flow.transactionId) ?? otherVoid(facts);
    const whyNot = refusal ?? beside ?? other ?? unlisted;
    return { plan: { sequence, own, noted, amount }, made, whyNot };
  };
}

/**
 * Answers the voids of a capture that has ended. The merchant is told of the one that has reversed it: nothing else says so
 * to those who did not ask for it.
 */
export async function endLateVoids(flow: FlowState, so: PendingVoids, ended: FinalStepOutcome): Promise<void> {
  const end = endOfVoids(flow, so, ended);
  if (end === undefined) return await lookForVoids(flow, so);
  if ('despiteVoid' in end || end.voided.confirmed === false) return;
  const done = so.sent.find(({ outcome }) => outcome.status === 'succeeded');
  if (done !== undefined) announceCommand(flow, done.command, done.outcome);
}

/**
 * Reads the voids again once the capture has ended. Lists lag: a void that an earlier run sent may appear only now, and
 * then an operator must check which of the two counts.
 */
async function lookForVoids(flow: FlowState, { notFound }: PendingVoids): Promise<void> {
  if (notFound.length === 0) return;
  const keys = notFound.map((sequence) => idempotencyKey(flow.workflowId, 'void', sequence));
  const listed = await listVoids(flow);
  const made = listed?.find((record) => keys.includes(record.holdfastKey ?? '') && !hasFailed(record));
  if (made === undefined) return;
  addLasting(
    flow,
    `void ${made.transactionId} was sent while the capture ${flow.transactionId ?? ''} was pending, and was not listed then: ` +
      'look in the back office of the service which of them counts',
  );
}

/**
 * Why a void might undo more than the pending capture.
 * @param own id of the pending capture; undefined before it is sent
 */
export function otherCapture(
  flow: FlowState,
  creator: Creator,
  facts: ReadFacts,
  own: string | undefined,
): string | undefined {
  const { capture, void: ofVoids } = flow.refusedLists;
  if (capture !== undefined || ofVoids !== undefined) return 'the service does not list what was captured and voided';
  // Lists lag, so the captures recorded by the creating flow count as well.
  const others = [...facts.captures, ...(creator.made?.captures ?? [])].filter(
    ({ transactionId }) => transactionId !== own,
  );
  const { capturedAtMost } = sumsOf({ ...facts, captures: others }, actionsOf(flow, creator));
  return capturedAtMost === 0 ? undefined : 'another capture may have taken money, which a void might undo as well';
}

function otherVoid({ voids }: ReadFacts): string | undefined {
  const other = voids.find((record) => !hasFailed(record));
  return other && `void ${other.transactionId} was made already, and nothing says whether by this command`;
}

/**
 * Why a found void that succeeded is answered as a refusal: it may have been sent while a capture was pending, and no
 * run remembers how its caller was answered.
 * @param before minor units that may have been captured when it was found
 */
export async function whyRefused(
  flow: FlowState,
  creator: Creator,
  before: number,
  { transactionId }: FinalStepOutcome,
): Promise<string | undefined> {
  const facts = await readFacts(flow, creator);
  const isRead = !('refusal' in facts || 'unreadable' in facts);
  noteNews(flow, creator);
  const captured = isRead ? sumsOf(facts, actionsOf(flow, creator)).capturedAtMost : before;
  if (captured === 0) return undefined;
  const refusal =
    `void ${transactionId ?? 'of unknown id'} has succeeded, and ${showMoney(captured, flow.currency)} may have been ` +
    'captured all the same: look in the back office of the service which of them counts';
  addLasting(flow, refusal);
  return refusal;
}
