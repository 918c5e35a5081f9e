import { ApplicationFailure } from '@temporalio/common';
import { hashOf } from '../src/contract/idempotency.js';
import { FAILURE_TYPES, type FailureDetails } from '../src/contract/names.js';
import type { CountOutgoing, OutgoingAnswer, OutgoingCall } from '../src/contract/outgoing.js';
import type { PaymentRecord } from '../src/contract/records.js';
import { dayOf, overInWords, overPerCall } from '../src/domain/outgoing.js';
import { type ActivityDeps, isRefusedRead, knownUnits, offersNoList, readCall } from './read-call.js';

/** Of a key or card: a day of 30,000 carries them from run to run, in 2 MiB at most. */
const shortHash = (text: string): string => hashOf(text).slice(0, 15);

/** Reports to a flow that what it sends to cards is limited: one of a unit without limits never asks, and pays nothing. */
export function limitsOutgoingOf({ units }: ActivityDeps, businessUnit: string): Pick<PaymentRecord, 'limitsOutgoing'> {
  return units?.get(businessUnit)?.outgoing === undefined ? {} : { limitsOutgoing: true };
}

/**
 * The one place where the limits of a business unit are decided, before anything is sent. Counts what may be sent at the
 * flow of its day, which decides one at a time, whatever worker asks.
 * @throws (retried) while the counter, or the card of the payment, can't be reached: nothing is sent uncounted
 */
export async function countOutgoing(deps: ActivityDeps, call: OutgoingCall): Promise<OutgoingAnswer> {
  const { businessUnit, key, amount, currency, day, approved } = call;
  const unit = deps.units?.get(businessUnit);
  if (unit === undefined) throw unitMissing(deps, businessUnit);
  const limits = unit.outgoing;
  if (limits === undefined) return { counted: true };
  const { approveWithinMs, refundsPerCard } = limits;
  const perDay = limits.perDay?.[currency];
  const why = approved === true ? undefined : overPerCall(limits, call);
  if (why !== undefined) return { counted: false, why, approveWithinMs };
  const perCard = call.operation === 'refund' ? refundsPerCard : undefined;
  // No limit counts what this is: the counter is spared.
  if (perDay === undefined && perCard === undefined) return { counted: true };
  const asked: CountOutgoing = {
    key: shortHash(key),
    amount,
    currency,
    ...(perCard !== undefined && { card: await cardOf(deps, call), perCard }),
    ...(perDay !== undefined && { perDay }),
    ...(approved === true && { approved }),
  };
  const { engine } = deps;
  const ofItsDay = await engine.countOutgoing({ businessUnit, day }, asked);
  // A call that has waited so long for the counter is sent today.
  const today = dayOf(deps.now());
  const answer = ofItsDay === 'dayIsOver' ? await engine.countOutgoing({ businessUnit, day: today }, asked) : ofItsDay;
  if (answer === 'dayIsOver')
    throw new Error(`The flow that counts what "${businessUnit}" sends on ${today} has ended, or was reset`);
  return answer.counted ? answer : { counted: false, why: overInWords(limits, call, answer), approveWithinMs };
}

/** Names the card by its fingerprint. Where the service shows none, its payment stands for it. */
async function cardOf(deps: ActivityDeps, call: OutgoingCall): Promise<string> {
  const { businessUnit, paymentId, currency } = call;
  const payment = shortHash(`payment ${paymentId}`);
  if (deps.units?.get(businessUnit)?.onlyNamedReads === true) return payment;
  const made = await readCall(deps, { businessUnit, currency }, async (provider, options) => {
    const charges = await provider.listCharges(paymentId, options);
    return charges.data.length > 0 ? charges.data : (await provider.listAuthorizations(paymentId, options)).data;
  }).catch((error: unknown) => {
    if (!(error instanceof ApplicationFailure) || !isRefusedRead(error)) throw error;
    const details = (error.details?.[0] ?? {}) as FailureDetails;
    // A service that offers no lists shows no card either.
    if (offersNoList(details)) return undefined;
    // Behind a proxy's 404 there may be a list, and a card whose refunds of the day are used up.
    throw ApplicationFailure.retryable(error.message, FAILURE_TYPES.providerUnavailable, details);
  });
  const fingerprint = made?.find(({ paymentMethod }) => paymentMethod?.fingerprint !== undefined)?.paymentMethod
    ?.fingerprint;
  return fingerprint === undefined ? payment : shortHash(`card ${fingerprint}`);
}

function unitMissing(deps: ActivityDeps, businessUnit: string): ApplicationFailure {
  const details: FailureDetails = { mayHaveLeft: false };
  return ApplicationFailure.retryable(knownUnits(deps, businessUnit), FAILURE_TYPES.credentialsRejected, details);
}
