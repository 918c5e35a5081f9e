import { pollDelay } from '../../src/domain/schedules.js';
import { enter } from '../flow/explain.js';
import { waitingVoid } from '../flow/inbox.js';
import type { FlowState, PendingVoids, VoidOf } from '../flow/state.js';
import { publish } from '../kit/visibility.js';

/** The id of its void begins so; a number follows. */
const COMMAND = 'pendingDeadline-';
/** A provider that has declined so many voids will decline others: a person has been asked. */
const MOST_SENT = 3;

/** True for the void that the deadline of a pending payment asks for. */
export function isOfPendingDeadline({ commandId }: { commandId: string }): boolean {
  return commandId.startsWith(COMMAND);
}

/**
 * Epoch ms by which a redirected buyer must have come back for good; undefined if there is no such time. It counts from
 * when the buyer was sent away, as `redirectTimeLimit` does.
 */
function deadlineOf({ pendingLimitMs, redirectUntil, redirectLimitMs }: FlowState): number | undefined {
  if (pendingLimitMs === undefined || redirectUntil === undefined) return undefined;
  return redirectUntil - redirectLimitMs + pendingLimitMs;
}

/**
 * Shortens `ms` to the deadline, and after it to the next try of a void. A time that is past shortens nothing: no void is
 * tried beside one that waits or is under way, and the reads would follow each other without a pause.
 */
export function untilPendingDeadline(flow: FlowState, ms: number): number {
  const next = flow.pendingVoid?.nextAt ?? deadlineOf(flow);
  if (next === undefined || next <= Date.now() || isOver(flow)) return ms;
  return Math.min(ms, next - Date.now());
}

/** Nothing more is tried: the void of a hold waits, or there were too many. */
function isOver({ pendingVoid }: FlowState): boolean {
  return pendingVoid !== undefined && pendingVoid.nextAt === undefined;
}

/**
 * Asks for a void of the pending operation once its deadline has passed, as a command would. Where it can't be voided
 * while it is pending, what it holds is voided as soon as that is known; no failure is ever guessed.
 * @param so voids of the pending operation, if it can be voided while it is pending
 */
export function voidAtDeadline(flow: FlowState, so: PendingVoids | undefined): void {
  const deadline = deadlineOf(flow);
  if (deadline === undefined || Date.now() < (flow.pendingVoid?.nextAt ?? deadline) || isOver(flow)) return;
  if (waitingVoid(flow) !== undefined) return;
  const tries = flow.pendingVoid?.tries ?? 0;
  const command: VoidOf = {
    commandId: `${COMMAND}${tries + 1}`,
    name: 'void',
    request: { why: 'the buyer has not come back by the pendingDeadline' },
  };
  if (so !== undefined) {
    const isLast = so.sent.length >= MOST_SENT || so.sent.some(({ outcome }) => outcome.status === 'succeeded');
    flow.pendingVoid = { tries: tries + 1, nextAt: isLast ? undefined : Date.now() + pollDelay(tries) };
    if (isLast) return;
  } else {
    if (!flow.keepsVoid) return;
    flow.pendingVoid = { tries: 1, nextAt: undefined };
    callOperator(flow, 'what it holds is voided as soon as that is known');
  }
  flow.commands.set(command.commandId, command);
  flow.queue.push(command);
}

/** A person is asked where the void of the deadline was not sent, or did not reverse anything. */
export function noteVoidOfDeadline(flow: FlowState, { answer }: VoidOf): void {
  if (answer === undefined) return;
  if ('refusal' in answer) callOperator(flow, answer.refusal);
  else if (answer.outcome.status !== 'succeeded') callOperator(flow, `its void was ${answer.outcome.status}`);
}

const GONE = 'the buyer has not come back by the pendingDeadline';

function callOperator(flow: FlowState, what: string): void {
  const why = `${GONE}: ${what}; it is still being read`;
  if (flow.needsOperator === why) return;
  enter(flow, { needsOperator: why });
  publish(flow);
}
