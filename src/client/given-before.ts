import { asWritten, describeReuse, MAX_COMMAND_ID } from '../contract/idempotency.js';
import type { RefundOfPayment, RefundReading } from '../contract/engine-port.js';
import { messageOf } from '../contract/message-of.js';
import { subscriptionWorkflowId } from '../contract/names.js';
import { HAS_ENDED } from '../contract/refusals.js';
import type { BillsAndSchedule } from '../contract/subscription-bills.js';
import type { RefundPeriod, SubscriptionAnswer } from '../contract/subscription-commands.js';
import { HoldfastError } from './errors.js';

/** Asks the flow of a payment for a refund, which it makes once for a command. */
export type AskForRefund = (call: RefundOfPayment) => Promise<RefundReading>;

interface Given {
  name: string;
  request: { commandId: string };
}

/** These move money: called refused, what was carried out is asked for a second time in another way. */
const MOVES_MONEY: ReadonlySet<string> = new Set(['refundPeriod', 'billNow']);

/** True of a refusal with which the subscription says that it has ended. */
export function saysItHasEnded(error: unknown): error is HoldfastError {
  return error instanceof HoldfastError && error.type === 'StateConflict' && error.message.includes(HAS_ENDED);
}

/**
 * What a subscription that has ended did with the command before: its answer, and of a refund how that stands now.
 * @param refusal with which it was refused now; thrown where the command was not given before
 * @throws HoldfastError as the command was refused then; `ReferenceConflict` if its id was given to another one;
 * `EngineUnavailable` where nobody can say whether it has moved money
 */
export async function answerOfEnded(
  ask: () => Promise<BillsAndSchedule>,
  askForRefund: AskForRefund,
  command: Given,
  refusal: HoldfastError,
): Promise<SubscriptionAnswer> {
  const { name, request } = command;
  const told = await ask().catch((error: unknown) => {
    if (!MOVES_MONEY.has(name)) throw refusal;
    throw new HoldfastError(
      'EngineUnavailable',
      `${refusal.message}. Whether it was carried out before could not be looked up (${messageOf(error)}): call again, with the same commandId`,
    );
  });
  const { given } = told;
  // It was terminated, or its build keeps no answers for this.
  if (given === undefined) throw byItsPayment(perhapsDone(refusal, command), told, command);
  const { commandId } = request;
  const kept = given.answered.find((one) => one.commandId === commandId);
  if (kept !== undefined) {
    requireSame(command, kept);
    if ('refusal' in kept.answer)
      throw new HoldfastError(kept.answer.type ?? 'StateConflict', `Refused: ${kept.answer.refusal}`);
    return kept.answer;
  }
  const begun = given.refunds.find((one) => one.commandId === commandId);
  if (begun === undefined) throw byItsPayment(refusal, told, command);
  requireSame(command, { name: 'refundPeriod', ...begun });
  const { amount, who, why, confirmDisputed } = request as RefundPeriod;
  const refunded = await askForRefund({
    ...begun.of,
    amount,
    ...(who !== undefined && { who }),
    ...(why !== undefined && { why }),
    ...(confirmDisputed !== undefined && { confirmDisputed }),
  });
  if ('refused' in refunded) throw new HoldfastError('StateConflict', refunded.refused);
  const { payment: reference, currency } = begun.of;
  return { ...given.ended, result: { ...refunded, reference, currency } };
}

/** Simply refused, it would be asked for in another way, and what was carried out moves its money a second time. */
function perhapsDone(refusal: HoldfastError, { name }: Given): HoldfastError {
  if (!MOVES_MONEY.has(name)) return refusal;
  return new HoldfastError(
    refusal.type,
    `${refusal.message}. It is not known whether it was carried out before: look at its payments and their refunds before you ask for it in another way`,
  );
}

/** Names how the period is refunded, under the id that the subscription would have asked with: once in any case. */
function byItsPayment(
  refusal: HoldfastError,
  { reference, bills }: BillsAndSchedule,
  { name, request }: Given,
): HoldfastError {
  const { period } = request as RefundPeriod;
  const bill = bills.find((one) => one.period === period && one.status === 'paid');
  const commandId = `${subscriptionWorkflowId(reference)}:${request.commandId}`;
  if (name !== 'refundPeriod' || bill?.payment === undefined || commandId.length > MAX_COMMAND_ID) return refusal;
  return new HoldfastError(
    refusal.type,
    `${refusal.message}. Give it to the payment, which refunds nothing twice if this was carried out before: ` +
      `refund({ payment: "${bill.payment}", commandId: "${commandId}" }), with the same amount`,
  );
}

function requireSame({ name, request }: Given, earlier: { name: string; request?: string }): void {
  if (earlier.name === name && [undefined, asWritten(request)].includes(earlier.request)) return;
  throw new HoldfastError('ReferenceConflict', `Refused: ${describeReuse(request.commandId, earlier.name)}`);
}
