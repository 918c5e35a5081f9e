import type { FinalChargeOutcome, ParsedResolvePendingInput } from '../src/contract/charge.js';
import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import { FAILURE_TYPES } from '../src/contract/names.js';
import { FLOWS } from '../src/contract/flows.js';
import { OPERATOR_AFTER_MS } from '../src/domain/schedules.js';
import { runFlow } from './flow/open-flow.js';
import { nextMessageOrRun } from './flow/inbox.js';
import { decidedOutcome, retryableOf } from './flow/outcomes.js';
import { kept, resumable } from './flow/continue.js';
import { type FlowState, noteDeclines, type SettleCommand } from './flow/state.js';
import { decodedOrRetry } from './kit/decoded-or-retry.js';
import { ignore } from './kit/run.js';
import { classifyEvent } from '../src/domain/settling.js';
import { enter } from './flow/explain.js';
import { publish } from './kit/visibility.js';
import { poll } from './policies.js';
import { askOperatorAfterADay, pollWait, refusalOf } from './steps/operator.js';
import type { Resolved } from './steps/prove.js';
import { lookUpTransaction } from './steps/read.js';
import { settle } from './steps/settle.js';

/**
 * Adopts a foreign transaction and follows it to its final status. It never sends a POST, so it can't move money. Its
 * reference is the transaction id.
 */
export function resolvePending(raw: unknown, carried?: unknown): Promise<FinalChargeOutcome> {
  return runFlow([raw, carried], { flow: FLOWS.resolvePending, begin, readOnly: true }, story);
}

/** What the flow has done so far, for the run that continues it. */
interface Notes {
  first?: Resolved;
}

function begin(flow: FlowState, { paymentId, transactionId }: ParsedResolvePendingInput): Notes {
  flow.paymentId = paymentId;
  flow.transactionId = transactionId;
  return {};
}

async function story(flow: FlowState, input: ParsedResolvePendingInput, notes: Notes): Promise<FinalChargeOutcome> {
  const first = await kept(notes, 'first', () =>
    resumable(
      flow,
      'firstRead',
      () => ({ begun: Date.now(), reads: 0, notFound: 0, isSigned: false }),
      (reading) => firstRead(flow, input, reading),
    ),
  );
  const ended = 'ended' in first ? first.ended : await settle(flow, first);
  if (ended.status !== 'declined') return ended;
  await readDeclines(flow);
  return { ...ended, retryable: retryableOf(flow, ended) };
}

/** What its business unit says of declines comes with its payment, which nothing before had to read. */
async function readDeclines(flow: FlowState): Promise<void> {
  const { businessUnit, madeUnder, paymentId = '' } = flow;
  try {
    noteDeclines(flow, decodedOrRetry(await poll.getPayment({ businessUnit, madeUnder, paymentId })));
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    ignore(flow, 'readFailed');
  }
}

interface FirstRead {
  /** Epoch ms. */
  begun: number;
  reads: number;
  notFound: number;
  /** A signed event has named the transaction. */
  isSigned: boolean;
}

/** So many "not found" answers over a quarter of an hour are not just lag. */
const NOT_FOUND_TIMES = 3;
const NOT_FOUND_AFTER_MS = 15 * 60_000;

/**
 * The decision of a person, who may not have seen what the service says by now: it is read first, and a final answer of it
 * wins. Returns undefined if the decision is refused.
 */
async function decide(
  flow: FlowState,
  { kind, transactionId }: ParsedResolvePendingInput,
  { isSigned }: FirstRead,
  command: SettleCommand,
): Promise<Resolved | undefined> {
  const { status, transactionId: named = transactionId } = command.request;
  const read = await lookUpTransaction(flow, transactionId);
  if ('record' in read) {
    const refusal = refusalOf(flow, command, read.record);
    if (refusal !== undefined) command.answer = { refusal };
    // The steps that follow a transaction answer it.
    else flow.inbox.unshift({ kind: 'settle', command });
    return { record: read.record, knownBy: 'poll' };
  }
  if (named !== transactionId)
    command.answer = { refusal: `the ${kind} that is followed is transaction ${transactionId}, not ${named}` };
  else if (status === 'notExecuted' && isSigned)
    command.answer = { refusal: `a signed event has named transaction ${transactionId}` };
  else return { ended: decidedOutcome(flow, command) };
  return undefined;
}

/**
 * Before the first successful read the flow claims neither that the transaction is pending nor how it ended.
 * @throws ApplicationFailure `NotFound` if the service has no such transaction
 */
async function firstRead(flow: FlowState, input: ParsedResolvePendingInput, reading: FirstRead): Promise<Resolved> {
  for (const { begun } = reading; ; reading.reads += 1) {
    const { kind, paymentId, transactionId } = input;
    const read = await lookUpTransaction(flow, transactionId);
    if ('record' in read) return { record: read.record, knownBy: 'poll' };
    if (read.notFound) reading.notFound += 1;
    if (!reading.isSigned && reading.notFound >= NOT_FOUND_TIMES && Date.now() >= begun + NOT_FOUND_AFTER_MS) {
      throw ApplicationFailure.nonRetryable(
        `The service knows no ${kind} ${transactionId} of payment ${paymentId}, or offers no read of a ${kind}; check kind ` +
          'and both ids, and look in its back office',
        FAILURE_TYPES.notFound,
      );
    }
    enter(flow, { status: 'unknown', waitingFor: 'settlement' });
    flow.settleable = true;
    publish(flow, { dueAt: begun + OPERATOR_AFTER_MS });
    askOperatorAfterADay(flow, begun);
    const message = await nextMessageOrRun(flow, pollWait(flow, reading.reads), 'Until the next read');
    if (message?.kind === 'settle') {
      const ended = await decide(flow, input, reading, message.command);
      if (ended !== undefined) return ended;
    }
    if (message?.kind === 'event') {
      const verdict = classifyEvent(message.event, flow);
      if (verdict.verdict === 'settles') return { record: verdict.record, knownBy: 'webhook' };
      if (verdict.verdict === 'ignore') ignore(flow, verdict.reason);
      // A signed event names it: the transaction exists, whatever the reads say.
      else reading.isSigned ||= message.event.trusted && message.event.transactionId === transactionId;
    }
  }
}
