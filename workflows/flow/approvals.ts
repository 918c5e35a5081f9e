import { type Approval, approvalSchema, type Approved } from '../../src/contract/messages.js';
import type { OpenApproval } from '../../src/contract/outgoing.js';
import { approveUpdate, rejectUpdate } from '../messages.js';
import { onUpdate, refused } from '../kit/requests.js';
import { inResetRun } from '../kit/start-guard.js';
import { onceAllAreIn } from './arrivals.js';
import { noteUpdate } from './continue.js';
import { refuseWhenEnded } from './refuse.js';
import type { FlowState } from './state.js';

/** Decisions are kept for callers that repeat one. */
const MOST_KEPT = 100;

/** The updates by which another person decides. Only the main loop acts on what they say. */
export function registerApprovals(flow: FlowState): void {
  const register = (update: typeof approveUpdate, decision: Approved['decision'], description: string): void =>
    onUpdate(update, approvalSchema, {
      description,
      validate: (request) => validate(flow, decision, request),
      answer: (request) => Promise.resolve(take(flow, decision, request)),
    });
  register(approveUpdate, 'approved', 'Lets a credit or refund above a limit be sent; another person says who and why');
  register(rejectUpdate, 'rejected', 'Refuses a credit or refund above a limit: nothing is sent');
}

function validate(flow: FlowState, decision: Approved['decision'], request: Approval): void {
  const { commandId } = request;
  const { approval } = flow;
  const earlier = decidedOn(flow, commandId);
  // Whoever has asked may have decided before it waited, in a run that a reset made: that is no decision.
  const isDecided = approval?.commandId !== commandId || decisionOf(flow, approval) !== undefined;
  if (earlier !== undefined && isDecided) {
    if (isSame(earlier, decision, request)) return;
    throw refused(`command "${commandId}" was already ${earlier.decision} by ${earlier.who}: ${earlier.why}`);
  }
  refuseWhenEnded(flow);
  if (approval?.commandId === commandId) {
    if (Date.now() >= approval.until)
      throw refused(`the time in which "${commandId}" could be ${decision} is up: nothing of it is sent`);
    if (isOneOf(approval, request.who))
      throw refused(`who: ${request.who} has asked for "${commandId}"; another person has to decide`);
    return;
  }
  // After a reset the engine gives decisions again, also before what they are about waits for them.
  if (inResetRun()) return;
  const what = approval === undefined ? 'nothing' : `"${approval.commandId}", not "${commandId}",`;
  throw refused(`${what} waits for a decision`);
}

function take(flow: FlowState, decision: Approved['decision'], request: Approval): Approved {
  noteUpdate(flow);
  const { commandId } = request;
  const earlier = decidedOn(flow, commandId);
  if (earlier !== undefined && isSame(earlier, decision, request)) return earlier;
  const decided = { ...request, decision, at: new Date(Date.now()).toISOString() };
  const others = Object.entries(flow.approvals ?? {}).slice(1 - MOST_KEPT);
  flow.approvals = Object.fromEntries([...others, [commandId, decided]]);
  // The main loop looks at the decision once it is woken.
  onceAllAreIn(flow, 'update', () => {
    if (flow.approval?.commandId === commandId) flow.inbox.push({ kind: 'retryNow' });
  });
  return decided;
}

/** A merchant's id may be `constructor`. */
function decidedOn({ approvals = {} }: FlowState, commandId: string): Approved | undefined {
  return Object.hasOwn(approvals, commandId) ? approvals[commandId] : undefined;
}

/** The decision about what waits; undefined where the one that was given before, by a run before a reset, is no other person's. */
export function decisionOf(flow: FlowState, approval: OpenApproval): Approved | undefined {
  const decided = decidedOn(flow, approval.commandId);
  return decided === undefined || isOneOf(approval, decided.who) ? undefined : decided;
}

function isSame(earlier: Approved, decision: Approved['decision'], { who, why }: Approval): boolean {
  return earlier.decision === decision && earlier.who === who && earlier.why === why;
}

function isOneOf({ askedBy }: OpenApproval, who: string): boolean {
  return askedBy !== undefined && bare(askedBy) === bare(who);
}

/** Case, spaces, invisible characters and other forms of the same letters make no other person. */
function bare(who: string): string {
  return who
    .normalize('NFKC')
    .replace(/[\s\p{Cf}]/gu, '')
    .toLowerCase();
}
