import type { FinalStepOutcome } from '../../src/contract/outcome.js';
import type { KnownBy } from '../../src/contract/statuses.js';
import type { TransactionRecord } from '../../src/contract/records.js';
import {
  type AbsenceEvidence,
  isAbsenceProven,
  nextReadDelay,
  noteEmptyRead,
  startAbsence,
  isNotOffered,
} from '../../src/domain/absence.js';
import { OPERATOR_AFTER_MS } from '../../src/domain/schedules.js';
import { showMoney } from '../../src/domain/money.js';
import { isUnexplained, recordSaid, tellsStatus } from '../../src/domain/settling.js';
import { hasNews, nextMessageOrRun, refusesWordOfAnother, waitOn } from '../flow/inbox.js';
import { decidedOutcome, MADE_FOR, notExecuted } from '../flow/outcomes.js';
import { resumable } from '../flow/continue.js';
import type { FlowState, StepKind } from '../flow/state.js';
import { enter } from '../flow/explain.js';
import { publish } from '../kit/visibility.js';
import type { Found } from './attempt.js';
import { handleEvent } from './events.js';
import {
  askOperatorAfterADay,
  askUntilRead,
  credentialsWork,
  nextLookWhileRejected,
  noteAnswered,
  refusalOf,
} from './operator.js';
import type { ReadRefusal } from './failures.js';

/** ms for which an activity that has timed out may still have a call in flight. */
export const STRAGGLER_MS = 65_000;

export type Resolved = { record: TransactionRecord; knownBy: KnownBy } | { ended: FinalStepOutcome };

/**
 * Nothing may be sent any more and no answer came: reads until the transaction appears, its absence is proven (money
 * rule 6), an operator decides or, if the service offers no read, a signed event tells. Never ends by itself otherwise.
 */
export async function readUntilKnown(flow: FlowState, lastFailure: string, step: Sought): Promise<Resolved> {
  const begin = (): Reading => {
    enter(flow, { status: 'unknown', waitingFor: 'proof' });
    flow.settleable = true;
    publish(flow, { dueAt: flow.stepStartedAt + OPERATOR_AFTER_MS });
    return { absence: startAbsence(Date.now() + STRAGGLER_MS), reads: 0 };
  };
  return await resumable(flow, 'read', begin, (reading) => keepReading(flow, lastFailure, step, reading));
}

interface Sought {
  find: () => Promise<Found<TransactionRecord>>;
  /** An operator finds it by this id; a void has none on the wire. */
  reconciliationId?: string;
}

interface Reading {
  absence: AbsenceEvidence;
  reads: number;
}

async function keepReading(
  flow: FlowState,
  lastFailure: string,
  { find, reconciliationId }: Sought,
  reading: Reading,
): Promise<Resolved> {
  for (;;) {
    if (flow.lookBeside !== undefined) await flow.lookBeside();
    const waitMs = nextReadDelay(reading.absence, reading.reads, Date.now());
    const message = await nextMessageOrRun(flow, nextLookWhileRejected(flow, waitMs), 'Until the next read');
    const isNoNews =
      (message?.kind === 'event' && !handleEvent(flow, message.event)) ||
      (message?.kind === 'settle' && refusesWordOfAnother(flow, message.command));
    if (isNoNews || (message?.kind === 'retryNow' && message.isOfDispute === true)) {
      waitOn(flow);
      continue;
    }
    reading.reads += 1;
    const result = await find();
    if ('found' in result && result.found !== undefined) {
      // The operator's decision is checked where the transaction is followed (`settle`).
      if (message?.kind === 'settle') flow.inbox.unshift(message);
      return { record: result.found, knownBy: message?.kind === 'event' ? 'webhook' : 'poll' };
    }
    const shown = 'refusal' in result && result.refusal.notOffered ? shownByEvent(flow) : undefined;
    if (shown !== undefined) {
      if (message?.kind === 'settle') flow.inbox.unshift(message);
      return { record: shown, knownBy: 'webhook' };
    }
    const { hintedTransactionId } = flow;
    const named = `an event names transaction ${hintedTransactionId}, but no read shows it`;
    if (message?.kind === 'settle') {
      const refusal = refusalOf(flow, message.command, undefined);
      if (
        refusal === undefined &&
        (hintedTransactionId === undefined || message.command.request.status !== 'notExecuted')
      )
        return { ended: decidedOutcome(flow, message.command) };
      message.command.answer = { refusal: refusal ?? `${named}: it may have moved the money` };
    }
    if (hintedTransactionId !== undefined) {
      // A signed event names a transaction that no read shows: that must not end as `notExecuted`.
      askUntilRead(flow, named);
      continue;
    }
    if ('refusal' in result && result.refusal.notOffered) {
      // By the unit's setting no read is made that could clear the credentials flag, which would hide this reason.
      credentialsWork(flow);
      askUntilRead(flow, nothingTells(flow, result.refusal, reconciliationId));
    }
    if ('found' in result) {
      noteAnswered(flow);
      reading.absence = noteEmptyRead(reading.absence, Date.now());
    }
    // What has come meanwhile may name the transaction.
    if (!hasNews(flow) && isAbsenceProven(reading.absence)) {
      const times = reading.absence.emptyReads.map((at) => new Date(at).toISOString());
      return {
        ended: notExecuted(flow, {
          knownBy: 'poll',
          reason: lastFailure,
          proof: `the payment listed no ${flow.kind} of ours at ${times.join(', ')}`,
        }),
      };
    }
    askOperatorAfterADay(flow, flow.stepStartedAt);
  }
}

/**
 * The transaction as a signed event shows it, if the service offers neither the list nor the single read: nothing else
 * can ever show it. Only for the operation that the flow's own payment was created for; others may capture, void and
 * refund it as well.
 */
function shownByEvent(flow: FlowState): TransactionRecord | undefined {
  const { hints = [], hintedTransactionId, kind, reference } = flow;
  const hintedBy = hints.findLast(({ transactionId }) => transactionId === hintedTransactionId);
  if (hintedBy === undefined || hintedTransactionId === undefined || !isNotOffered(flow.refusedGets[kind]))
    return undefined;
  if (!MADE_FOR.includes(kind) || (hintedBy.reconciliationId ?? reference) !== reference) return undefined;
  const own = { ...flow, transactionId: hintedTransactionId };
  return tellsStatus(hintedBy, own) && !isUnexplained(hintedBy)
    ? recordSaid(hintedBy, { transactionId: hintedTransactionId, status: 'Pending' })
    : undefined;
}

/** What is not known, why only an operator can tell, and what to do. */
function nothingTells(
  { kind, paymentId, stepAmount, currency }: FlowState,
  { how }: ReadRefusal,
  reconciliationId: string | undefined,
): string {
  const named = reconciliationId === undefined ? '' : ` with reconciliation id "${reconciliationId}"`;
  return (
    `the ${kind} may have moved money or not: no answer came, its key may not be sent any more, and the service ` +
    `offers no read that tells (the list of ${LISTED[kind]} ${how}); look in its back office for a ${kind} over ` +
    `${showMoney(stepAmount, currency)}${named} under payment ${paymentId}, and say by settleManually what is there`
  );
}

const LISTED: Readonly<Record<StepKind, string>> = {
  authorization: 'authorizations',
  charge: 'charges',
  capture: 'captures',
  void: 'voids',
  refund: 'refunds',
  credit: 'credits',
  'risk-analysis': 'risk analyses',
};
