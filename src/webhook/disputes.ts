import type { EventSink } from '../contract/engine-port.js';
import type { TransactionEvent } from '../contract/messages.js';
import { referenceOfWorkflowId } from '../contract/names.js';
import type { FindOwner } from './route.js';

/** Why a dispute can't be passed on yet, as a sentence for the log. It is no fault of Temporal. */
export class DisputeHeldBack extends Error {}

/**
 * Has the flow of the payment's commands look into a chargeback, whether or not the flow that made the payment has
 * ended, or is still kept. A service that is away for as long as it sends the event again must not lose it: where it does
 * not say whose payment it is, Temporal is asked.
 * Rejects when neither has said, or no currency is known: the event is sent again.
 * @returns `unknown` if no flow is known to have made the payment, and nothing is kept; `unproven` if nobody has signed it and the
 * service knows no such payment
 * @param signed of what nobody has signed the service must know the payment, within the limit of its unit: anybody can send it
 */
export async function passOnDispute(
  sink: EventSink,
  findOwner: FindOwner,
  { event, signed }: { event: TransactionEvent; signed: boolean },
): Promise<'passedOn' | 'unknown' | 'unproven'> {
  const { businessUnit, paymentId, hash } = event;
  const asked = await askService(findOwner, event, signed);
  if (!signed && 'failure' in asked) {
    if (asked.isUnknown) return 'unproven';
    throw asked.failure;
  }
  const owner = 'owner' in asked ? asked.owner : 'foreign';
  const madeBy = owner === 'foreign' ? await sink.flowOfPayment(paymentId) : owner.workflowId;
  if (madeBy === undefined && 'failure' in asked) throw asked.failure;
  // That of the payment first: an acquirer may book a chargeback in another one, and what nobody has signed names none.
  const currency = owner === 'foreign' ? event.currency : (owner.currency ?? event.currency);
  const paymentReference = madeBy === undefined ? undefined : referenceOfWorkflowId(madeBy);
  const passed = await sink.disputed({
    paymentId,
    businessUnit,
    ...(currency !== undefined && { currency }),
    ...(madeBy !== undefined && { madeBy }),
    ...(paymentReference !== undefined && { paymentReference }),
    hash,
  });
  if (passed === 'noCurrency')
    throw new DisputeHeldBack('Neither an event of a disputed payment nor a flow of it names a currency');
  return passed;
}

async function askService(
  findOwner: FindOwner,
  event: TransactionEvent,
  signed: boolean,
): Promise<{ owner: NonNullable<Awaited<ReturnType<FindOwner>>> } | { failure: DisputeHeldBack; isUnknown: boolean }> {
  try {
    const owner = await findOwner(event, signed);
    if (owner !== undefined) return { owner };
    return {
      failure: new DisputeHeldBack('The payment service knows no payment that an event calls disputed'),
      isUnknown: true,
    };
  } catch (cause) {
    return {
      failure: new DisputeHeldBack('The payment service has not said whose a disputed payment is', { cause }),
      isUnknown: false,
    };
  }
}
