import type { Declined, FinalStepOutcome, NotExecuted } from '../../src/contract/outcome.js';
import type { ActionRecord } from '../../src/contract/payment-actions.js';
import { takeOut, waitingVoid } from '../flow/inbox.js';
import { addLasting } from '../flow/new-state.js';
import { noteAction, notExecuted } from '../flow/outcomes.js';
import { decidesAfterReset } from '../kit/start-guard.js';
import type { FlowState } from '../flow/state.js';
import { stopIfCancelled, taskWasLost } from '../flow/earlier-runs.js';

/** The void that came before it is known whether money is held. */
export function earlyVoid(flow: FlowState): ReturnType<typeof waitingVoid> {
  return flow.keepsVoid ? waitingVoid(flow) : undefined;
}

/**
 * The outcome of an authorization that was not sent because a void came first (money rule 8). Returns undefined if
 * there is no such void, or if something may have been sent: then only reads show the outcome, and a hold that they
 * find is voided.
 */
export async function notSentForVoid(flow: FlowState): Promise<NotExecuted | undefined> {
  const voided = earlyVoid(flow) !== undefined;
  if (!voided || flow.moneyPostMayHaveLeft || (await taskWasLost(flow)) || decidesAfterReset()) return undefined;
  return notExecuted(flow, {
    knownBy: 'reply',
    reason: 'a void came before it was authorized',
    proof: 'no money operation was ever sent',
  });
}

/** Returns what ends an authorization before it is sent; `sent` if it may go out, or has perhaps gone out before. */
export async function unsentOrSent(flow: FlowState, readOnlyReason: string | undefined): Promise<NotExecuted | 'sent'> {
  if (readOnlyReason === undefined) {
    await stopIfCancelled(flow);
    const unsent = await notSentForVoid(flow);
    if (unsent !== undefined) return unsent;
  }
  flow.tellOfVoid = earlyVoid(flow) === undefined;
  return 'sent';
}

/**
 * Answers the early void if there is no hold and none will follow. The record answers it if it is repeated after the
 * end.
 */
export function answerEarlyVoid<Ended extends { status: string }>(
  flow: FlowState,
  ended: Ended,
): Ended & { actions?: ActionRecord[] } {
  if (!isUnheld(ended)) return ended;
  const inDoubt = callForDoubt(flow, ended);
  const command = earlyVoid(flow);
  if (command === undefined) return ended;
  takeOut(flow, command);
  if (inDoubt !== undefined) {
    command.answer = { refusal: `${inDoubt}; the void that was asked for was not sent` };
    return ended;
  }
  const outcome = { ...ended, nothingHeld: true as const };
  noteAction(flow, command, 1, outcome);
  command.answer = { outcome };
  return { ...ended, actions: [...flow.actions] };
}

/**
 * Flags an ended authorization whose failure is unconfirmed. Money may be held all the same: nothing voids it,
 * and no caller may be answered that nothing is held, so an operator must look.
 * @returns why, in a sentence
 */
export function callForDoubt(flow: FlowState, ended: Declined | NotExecuted): string | undefined {
  if (ended.status !== 'declined' || ended.confirmed) return undefined;
  const why =
    `nobody has confirmed that the authorization ${ended.transactionId ?? ''} has failed: ` +
    'look at the provider whether money is held, and void what is held';
  addLasting(flow, why);
  return why;
}

function isUnheld(ended: object): ended is Declined | NotExecuted {
  const { status } = ended as FinalStepOutcome;
  return status === 'declined' || status === 'notExecuted';
}
