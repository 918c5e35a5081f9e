import type { Succeeded } from '../../src/contract/outcome.js';
import type { TransactionRecord } from '../../src/contract/transaction.js';
import { OPERATOR_AFTER_MS } from '../../src/domain/schedules.js';
import { isNotOffered } from '../../src/domain/refused-reads.js';
import { nextMessage } from '../flow/inbox.js';
import { type FlowState, ignore } from '../flow/state.js';
import { enter } from '../flow/visibility.js';
import { beginStep } from './begin-step.js';
import { decodedOrRetry } from '../flow/decoded-or-retry.js';
import { READS } from './read.js';
import { credentialsWork, handleFailedRead, pollWait } from './operator.js';
import { noteRefusal } from './refused-read.js';

/** `null`: there is no id. `undefined`: the service could not be read. */
type ConsentId = string | null | undefined;

/**
 * Reads the consent id that later transactions send. Events don't sign it, so it is always read. If the service refuses
 * that read, the id is known if an earlier answer of the service contained it.
 */
export async function readConsentId(
  flow: FlowState,
  kind: 'authorization' | 'charge',
  { transactionId }: Succeeded,
): Promise<ConsentId> {
  const { paymentId, businessUnit, madeUnder, currency } = flow;
  if (paymentId === undefined || transactionId === undefined) return null;
  let record: TransactionRecord;
  try {
    record = await READS[kind].get({ businessUnit, madeUnder, paymentId, transactionId, currency });
  } catch (error) {
    ignore(flow, 'readFailed');
    handleFailedRead(flow, error);
    const refusal = noteRefusal(flow.refusedGets, kind, error);
    const isNamed = refusal !== undefined && flow.consent?.transactionId === transactionId;
    return isNamed ? flow.consent?.id : undefined;
  }
  credentialsWork(flow);
  return decodedOrRetry(record).consentTransactionId ?? null;
}

/**
 * If the first read got no answer, polls the id for 24 hours once all else is done, because nothing else keeps it, or
 * until the service proves not to offer the read. An operator's decision may be about no transaction at all, so its
 * consent is not read again.
 */
export async function consentIdAtLast(
  flow: FlowState,
  kind: 'authorization' | 'charge',
  consent: Succeeded,
  early: ConsentId,
): Promise<ConsentId> {
  if (early !== undefined || consent.evidence.knownBy === 'operator') return early;
  beginStep(flow, kind);
  enter(flow, { status: 'unknown', waitingFor: 'provider', needsOperator: null });
  for (let polls = 0; Date.now() < flow.stepStartedAt + OPERATOR_AFTER_MS; polls += 1) {
    const id = await readConsentId(flow, kind, consent);
    if (id !== undefined || isNotOffered(flow.refusedGets[kind])) return id;
    const message = await nextMessage(flow, pollWait(flow, polls), 'Until the consent can be read');
    if (message?.kind === 'settle')
      message.command.answer = { refusal: 'nothing is unknown but the id of the consent' };
    else if (message?.kind === 'event') ignore(flow, 'nothingUnderWay');
  }
  return undefined;
}
