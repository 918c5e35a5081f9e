import { notifyFaults } from './notifications.js';
import { notifiesOf } from './notifies.js';
import { activityInfo } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { CreatePaymentCall, PaymentAndTransactionsCall, PaymentCall } from '../src/contract/activity-calls.js';
import { FAILURE_TYPES, type FailureDetails } from '../src/contract/names.js';
import {
  LISTED_KINDS,
  type ListedKind,
  type PaymentAndTransactions,
  type PaymentRecord,
} from '../src/contract/records.js';
import { longestDeadline } from '../src/domain/hold.js';
import { createUntil, markOfRestore, paymentOfStatement, whySentBefore } from './after-restore.js';
import { refusePaymentIfBraked } from './brakes.js';
import { limitsOutgoingOf } from './outgoing.js';
import { type ActivityDeps, bytesOf, MOST_BYTES_TOGETHER, whyNoCards, readCall } from './read-call.js';
import { paymentRecord, readPaymentRecord } from './records.js';
import { enterAdopted, paymentOfReference, withReferenceClaimed } from './reference-book.js';
import { noEarlierLeft, provenFirstTry, sendKeyedPost } from './send-call.js';
import { TRANSACTIONS } from './transaction-table.js';
import { listTransactions } from './transactions.js';

/**
 * `POST /payments`. It moves no money, but after a reset or a restore an expired key would create a second payment, which
 * could be charged again: the payment that a run before has made is adopted.
 * @throws ApplicationFailure `InvalidInput` when the unit can't offer the `terms`; nothing was sent
 */
export async function createPayment(deps: ActivityDeps, call: CreatePaymentCall): Promise<PaymentRecord> {
  const info = activityInfo();
  const begun = deps.now();
  const terms = call.terms === undefined ? undefined : await termsOf(deps, call);
  const madeUnder = deps.units?.get(terms?.businessUnit ?? call.businessUnit)?.madeUnder;
  const underUnit = { ...call, businessUnit: terms?.businessUnit ?? call.businessUnit };
  const record = await sendKeyedPost<PaymentRecord>(
    deps,
    { ...underUnit, postUntil: await createUntil(deps, call) },
    async (provider, options) => {
      const earlier = await refusePaymentIfBraked(deps, underUnit, call.businessUnit).catch(
        async (refused: unknown) => (await paymentOfReference(deps, underUnit)) ?? Promise.reject(refused),
      );
      if (earlier !== undefined) return earlier;
      return await withReferenceClaimed(deps, underUnit, async () => ({
        // Not set for an adopted payment: it may come from a worker with another app id.
        ...(madeUnder !== undefined && { madeUnder }),
        ...paymentRecord(
          await provider.createPayment({ ...call.payment, additionalDetails: call.additionalDetails }, options),
        ),
      }));
    },
    () => paymentMadeBefore(deps, call),
  );
  return {
    ...terms,
    // An adopted payment keeps its unit whatever this worker's settings; the hold duration follows the present ones.
    ...record,
    ...(terms?.holdMs !== undefined && { holdMs: terms.holdMs }),
    ...notifiesOf(deps, terms?.businessUnit ?? call.businessUnit),
    ...declinesOf(deps, terms?.businessUnit ?? call.businessUnit),
    ...limitsOutgoingOf(deps, terms?.businessUnit ?? call.businessUnit),
    ...(info.isLocal && { localMs: deps.now() - begun }),
  };
}

async function paymentMadeBefore(deps: ActivityDeps, call: CreatePaymentCall): Promise<PaymentRecord | undefined> {
  const { workflowExecution: execution } = activityInfo();
  if (execution === undefined) return undefined;
  // Only a reset leaves histories of earlier runs.
  const isReset = execution.runId !== call.originalRunId;
  const earlier = isReset
    ? await deps.engine.earlierPayment(execution.workflowId, execution.runId, call.key)
    : undefined;
  const made = earlier ?? paymentOfStatement(deps, call.key);
  if (made === undefined) return undefined;
  if (!('ambiguous' in made)) {
    // What the run before has made, it has entered.
    if (earlier === undefined) await enterAdopted(deps, made);
    return made;
  }
  const details: FailureDetails = { mayHaveLeft: true, windowClosed: true };
  throw ApplicationFailure.nonRetryable(
    `Not sent: the statement of the lost time names several payments of this reference: ${made.ambiguous.join(', ')}`,
    FAILURE_TYPES.outcomeUnknown,
    details,
  );
}

/** `GET /payments/{payment_id}` */
export async function getPayment(deps: ActivityDeps, call: PaymentCall): Promise<PaymentRecord> {
  const unit = deps.units?.get(call.businessUnit);
  const { businessUnit, paymentId } = call;
  const ofRestore = await markOfRestore(deps);
  const record = await readCall(deps, { businessUnit }, async (provider, options) =>
    readPaymentRecord(await provider.getPayment(paymentId, options)),
  );
  return {
    ...record,
    ...(call.afterReset === true && { afterReset: true as const }),
    ...ofRestore,
    ...(unit?.madeUnder !== undefined && { madeUnder: unit.madeUnder }),
    ...notifiesOf(deps, businessUnit),
    ...declinesOf(deps, businessUnit),
    ...limitsOutgoingOf(deps, businessUnit),
    ...(unit?.voidAfterPartialCapture === true && { voidAfterPartialCapture: true as const }),
  };
}

const ROWS = {
  authorization: TRANSACTIONS.Authorization,
  charge: TRANSACTIONS.Charge,
  capture: TRANSACTIONS.Capture,
  refund: TRANSACTIONS.Refund,
  void: TRANSACTIONS.Void,
} as const satisfies Record<ListedKind, unknown>;

/**
 * Reads a payment, and then its lists. A list that fails is left out, whatever the reason, and so are the longest where
 * all together are too long: the flow asks for each of them alone, and counts a refusal then.
 */
export async function getPaymentAndTransactions(
  deps: ActivityDeps,
  { without, ...call }: PaymentAndTransactionsCall,
): Promise<PaymentAndTransactions> {
  const payment = await getPayment(deps, call);
  const asked = LISTED_KINDS.filter((kind) => !without.includes(kind));
  const answers = await Promise.allSettled(asked.map((kind) => listTransactions(deps, ROWS[kind], call)));
  const read = asked.flatMap((kind, at) => {
    const answer = answers[at];
    return answer?.status === 'fulfilled' ? [{ kind, records: answer.value, bytes: bytesOf(answer.value) }] : [];
  });
  let left = MOST_BYTES_TOGETHER;
  const lists: PaymentAndTransactions['lists'] = {};
  for (const { kind, records, bytes } of read.sort((one, other) => one.bytes - other.bytes)) {
    left -= bytes;
    if (left >= 0) lists[kind] = records;
  }
  const retryAfterMs = Math.max(0, ...answers.map(delayOf));
  return { payment, lists, ...(retryAfterMs > 0 && { retryAfterMs }) };
}

/** ms that a failed call is to wait before it is sent again. */
function delayOf(answer: PromiseSettledResult<unknown>): number {
  if (answer.status === 'fulfilled' || !(answer.reason instanceof ApplicationFailure)) return 0;
  const { retryAfterMs = 0 } = (answer.reason.details?.[0] ?? {}) as Partial<FailureDetails>;
  return retryAfterMs;
}

/** A flow counts declines by this: it must not read configuration itself. */
function declinesOf({ units }: ActivityDeps, businessUnit: string): Pick<PaymentRecord, 'declines'> {
  const declines = units?.get(businessUnit)?.declines;
  return declines === undefined ? {} : { declines };
}

async function termsOf(
  deps: ActivityDeps,
  call: CreatePaymentCall,
): Promise<Pick<PaymentRecord, 'businessUnit' | 'holdMs'>> {
  const { businessUnit, terms = {} } = call;
  const unit = deps.units?.get(businessUnit);
  // `sendKeyedPost` reports the missing unit, since it knows whether anything can have been sent.
  if (unit === undefined) return {};
  const faults: string[] = [];
  if (terms.risk === true && unit.riskUnit === undefined) {
    faults.push(`risk: business unit "${businessUnit}" names no riskUnit; configure one, or leave risk out`);
  }
  const createdUnder = terms.risk === true ? (unit.riskUnit ?? businessUnit) : businessUnit;
  const noCards = terms.storedCard === true ? whyNoCards(deps, createdUnder) : undefined;
  if (noCards !== undefined) faults.push(`cardOnFile: ${noCards}`);
  if (terms.notifyUrl !== undefined) faults.push(...notifyFaults(deps.notifications, createdUnder, terms.notifyUrl));
  const { holdMs } = deps.units?.get(createdUnder) ?? unit;
  const longest = longestDeadline(holdMs);
  if (terms.captureDeadlineMs !== undefined && terms.captureDeadlineMs > longest) {
    faults.push(
      `captureDeadline: ${terms.captureDeadlineMs} ms is beyond the hold of business unit "${createdUnder}", ` +
        `which allows at most ${longest} ms`,
    );
  }
  if (faults.length > 0 && (await nothingSentBefore(deps, call))) {
    const details: FailureDetails = { mayHaveLeft: false };
    throw ApplicationFailure.nonRetryable(
      `Nothing was sent: ${faults.join('; ')}`,
      FAILURE_TYPES.invalidInput,
      details,
    );
  }
  return { businessUnit: createdUnder, holdMs };
}

/**
 * False after a reset or a restore, and in a retried task: the configuration may have changed since, and the flow
 * continues what it began under the old one.
 */
async function nothingSentBefore(deps: ActivityDeps, call: CreatePaymentCall): Promise<boolean> {
  const info = activityInfo();
  if (call.mayHaveLeft || !noEarlierLeft(info) || (await whySentBefore(deps, call)) !== undefined) return false;
  return !info.isLocal || (await provenFirstTry(deps));
}
