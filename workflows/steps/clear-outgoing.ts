import { ActivityFailure } from '@temporalio/workflow';
import type { Approved } from '../../src/contract/messages.js';
import type { NotExecuted } from '../../src/contract/outcome.js';
import type { OpenApproval } from '../../src/contract/outgoing.js';
import { rejectedBecause } from '../../src/contract/refusals.js';
import { showMoney } from '../../src/domain/money.js';
import { dayOf } from '../../src/domain/outgoing.js';
import { decisionOf } from '../flow/approvals.js';
import { resumable } from '../flow/continue.js';
import { enter, takeBackReason } from '../flow/explain.js';
import { type NextInput, nextCommandOrMessage } from '../flow/inbox.js';
import { notExecuted } from '../flow/outcomes.js';
import { forgetDecision } from '../flow/refuse.js';
import type { FlowState, Message, MoneyCommand, QueuedCommand } from '../flow/state.js';
import { decodedOrRetry } from '../kit/decoded-or-retry.js';
import { ignore } from '../kit/run.js';
import { publish } from '../kit/visibility.js';
import { counting } from '../policies.js';
import { beginStep } from './money-step.js';
import { askOperator, handleFailedRead, pollWait } from './operator.js';

/** A credit or refund that is about to be sent. */
export interface Outgoing {
  operation: 'refund' | 'credit';
  /** The refund's command; of a credit its reference. */
  commandId: string;
  /** Its idempotency key. */
  key: string;
  /** Minor units. */
  amount: number;
  /** Who has asked for it, if the command says so. */
  askedBy: string | undefined;
  /** Epoch ms: on the day of that time in UTC it counts, unless it waits for another person. */
  at: number;
  /** It was cleared over another sum: what was decided about that one counts no more. */
  again?: boolean;
  /** The command names no sum: what a run before a reset was told may be about another one. */
  isUnnamedSum?: boolean;
  /** Ends the wait for another person; undefined for a flow that stays open when it is cancelled. */
  isCancelled?: () => boolean;
  /** Executes a void or capture of the payment while this waits: its hold may end before another person decides. */
  meanwhile?: (command: MoneyCommand) => Promise<void>;
}

/** Notes that the payment's business unit limits what it sends to cards. */
export function noteLimits(flow: FlowState, { limitsOutgoing }: { limitsOutgoing?: true }): void {
  if (limitsOutgoing === true) flow.limitsOutgoing = true;
}

/** `refused`: another person has said no, or nobody has said anything in time. */
export interface Cleared {
  refused?: NotExecuted | undefined;
  /** It is above a limit, and does not say who asks: another person could not be told from them. */
  unnamed?: string;
  /** It has waited for another person or for the counter: what was read before may be old. */
  waited?: true;
  approved?: FlowState['approved'];
}

/**
 * Waits until a credit or refund may be sent: at once below the limits of its business unit, else once another person
 * has approved it. Call it only where `limitsOutgoing` is set, before anything of the operation is sent.
 */
export async function clearOutgoing(flow: FlowState, sent: Outgoing): Promise<Cleared> {
  const begin = (): Clearing => {
    if (sent.again === true || sent.isUnnamedSum === true) forgetDecision(flow, sent.commandId);
    return { day: dayOf(sent.at) };
  };
  return await resumable(flow, 'clearOutgoing', begin, async (notes) => {
    if (notes.meanwhile !== undefined) await executeMeanwhile(flow, sent, notes, notes.meanwhile);
    for (;;) {
      if (notes.approval === undefined) {
        notes.askedAt ??= Date.now();
        const answer = await count(flow, sent, notes);
        if (Date.now() - notes.askedAt > STAYS_FRESH_MS) notes.waited = true;
        const waited = notes.waited === true ? { waited: true as const } : {};
        if (answer.counted) return waited;
        if (sent.askedBy === undefined) return { ...waited, unnamed: askWho(sent, answer) };
        open(flow, sent, notes, answer);
      }
      const decided = await untilDecided(flow, sent, notes, notes.approval as OpenApproval);
      flow.approval = undefined;
      takeBackReason(flow, { waitingFor: 'provider', dueAt: null });
      notes.waited = true;
      if (decided === 'look') {
        // The limits may be others by now, or the day.
        delete notes.approval;
        notes.day = dayOf(Date.now());
        continue;
      }
      if (decided === 'cancelled') return { waited: true };
      if (decided?.decision !== 'approved')
        return { waited: true, refused: refusedBecause(flow, notes.approval as OpenApproval, decided) };
      const { who, why } = decided;
      notes.day = dayOf(Date.now());
      await count(flow, sent, notes, true);
      return { waited: true, approved: { who, why } };
    }
  });
}

interface Clearing {
  /** In UTC. */
  day: string;
  approval?: OpenApproval;
  waited?: true;
  /** Epoch ms: when the counter was first asked. */
  askedAt?: number;
  /** A command that is executed while this waits, and what it changes. */
  meanwhile?: { command: MoneyCommand; before: Pick<FlowState, 'status' | 'kind' | 'stepAmount' | 'stepStartedAt'> };
}

/** What was read before the counter was asked counts for so long. */
const STAYS_FRESH_MS = 60_000;

async function count(flow: FlowState, sent: Outgoing, notes: Clearing, approved = false) {
  const { operation, key, amount } = sent;
  const { day } = notes;
  flow.inLocalTry = false;
  const { businessUnit, madeUnder, currency, paymentId = '' } = flow;
  const asked = { businessUnit, madeUnder, key, operation, paymentId, amount, currency, day };
  for (let tries = 0; ; tries += 1) {
    try {
      const answer = decodedOrRetry(await counting.countOutgoing({ ...asked, ...(approved && { approved }) }));
      if (tries > 0) takeBackReason(flow);
      return answer;
    } catch (error) {
      // The service rejects the read of the card, the worker has another unit, or the counter can't be reached.
      if (!(error instanceof ActivityFailure)) throw error;
      handleFailedRead(flow, error);
      askOperator(flow, `nothing is sent before it can be counted: ${error.cause?.message ?? error.message}`);
    }
    const next = await nextInput(flow, sent, notes, pollWait(flow, tries), 'Until it can be counted', false);
    if ('message' in next) takeNothing(flow, next.message);
  }
}

/** The next input; a void or capture has been executed then. */
async function nextInput(
  flow: FlowState,
  sent: Outgoing,
  notes: Clearing,
  ms: number,
  summary: string,
  endsOnCancel: boolean,
): Promise<NextInput> {
  const takes = ({ name }: QueuedCommand): boolean =>
    sent.meanwhile !== undefined && (name === 'void' || name === 'capture');
  if (flow.lookBeside !== undefined) await flow.lookBeside();
  const lookMs = Math.max(1, (flow.disputeSeen?.nextAt ?? Infinity) - Date.now());
  const next = await nextCommandOrMessage(flow, Math.min(ms, lookMs), summary, endsOnCancel, takes);
  if (!('command' in next)) return next;
  const { status, kind, stepAmount, stepStartedAt } = flow;
  const before = { status, kind, stepAmount, stepStartedAt };
  notes.meanwhile = { command: next.command as MoneyCommand, before };
  await executeMeanwhile(flow, sent, notes, notes.meanwhile);
  return next;
}

async function executeMeanwhile(
  flow: FlowState,
  sent: Outgoing,
  notes: Clearing,
  { command, before }: NonNullable<Clearing['meanwhile']>,
): Promise<void> {
  await sent.meanwhile?.(command);
  delete notes.meanwhile;
  notes.waited = true;
  const { status, kind, stepAmount, stepStartedAt } = before;
  beginStep(flow, kind, stepAmount);
  flow.stepStartedAt = stepStartedAt;
  if (flow.approval === undefined) return takeBackReason(flow, { status, waitingFor: 'provider', dueAt: null });
  enter(flow, { status, needsOperator: null });
  showApproval(flow, sent, flow.approval);
}

/** Nothing is under way that a message could be about. */
function takeNothing(flow: FlowState, message: Message): void {
  if (message.kind === 'settle') message.command.answer = { refusal: 'nothing has been sent yet' };
  else if (message.kind === 'event') ignore(flow, 'nothingSentYet');
}

function askWho({ operation }: Outgoing, { why }: { why: string }): string {
  return `who: is required, since this ${operation} is ${why}, and another person has to approve it; give it again with who`;
}

function open(
  flow: FlowState,
  sent: Outgoing,
  notes: Clearing,
  { why, approveWithinMs }: { why: string; approveWithinMs: number },
): void {
  const { commandId, askedBy } = sent;
  const until = Date.now() + approveWithinMs;
  const approval = { commandId, why, until, ...(askedBy !== undefined && { askedBy }) };
  notes.approval = approval;
  flow.approval = approval;
  showApproval(flow, sent, approval);
}

function showApproval(
  flow: FlowState,
  { operation, commandId, amount, askedBy }: Outgoing,
  { why, until }: OpenApproval,
): void {
  const asked = `${operation} of ${showMoney(amount, flow.currency)}, command "${commandId}"`;
  const by = askedBy === undefined ? '' : ` asked for by ${askedBy}`;
  const needsOperator =
    `${asked}${by}, is not sent before another person approves it: it is ${why}; \`approve\` or \`reject\` it by ` +
    `${new Date(until).toISOString()}, or it is refused then`;
  enter(flow, { waitingFor: 'approval', needsOperator, dueAt: until });
  publish(flow, { dueAt: until });
}

/** `look`: a person asks to look at the limits again. undefined: the time is up. */
async function untilDecided(
  flow: FlowState,
  sent: Outgoing,
  notes: Clearing,
  approval: OpenApproval,
): Promise<Approved | 'look' | 'cancelled' | undefined> {
  const { isCancelled } = sent;
  for (;;) {
    const decided = decisionOf(flow, approval);
    if (decided !== undefined) return decided;
    if (isCancelled?.() === true) return 'cancelled';
    const ms = approval.until - Date.now();
    if (ms <= 0) return undefined;
    const endsOnCancel = isCancelled !== undefined;
    const next = await nextInput(flow, sent, notes, ms, 'Until another person has approved it', endsOnCancel);
    if (!('message' in next)) continue;
    takeNothing(flow, next.message);
    const { message } = next;
    // A dispute is looked into beside it, and changes nothing about the limits.
    const asksToLook = message.kind === 'retryNow' && message.isOfDispute !== true;
    if (asksToLook && decisionOf(flow, approval) === undefined) return 'look';
  }
}

function refusedBecause(flow: FlowState, { commandId, why, until }: OpenApproval, decided: Approved | undefined) {
  const reason =
    decided === undefined
      ? `nobody has approved it by ${new Date(until).toISOString()}: it is ${why}`
      : rejectedBecause(decided);
  // An approval that comes later finds nothing that waits.
  if (decided === undefined) forgetDecision(flow, commandId);
  const knownBy = decided === undefined ? 'reply' : 'operator';
  const refused = notExecuted(flow, { knownBy, reason, proof: 'no money operation was ever sent' });
  if (decided === undefined) return refused;
  const { who, why: because } = decided;
  return { ...refused, evidence: { ...refused.evidence, operator: { who, why: because } } };
}
