import { setHandler } from '@temporalio/workflow';
import { type PaymentDisputed, paymentDisputedSchema } from '../../src/contract/disputes.js';
import { subscriptionOfAttempt } from '../../src/contract/names.js';
import { isSealed } from '../../src/contract/payload-marks.js';
import { readableOrRetry } from '../kit/decoded-or-retry.js';
import { ignore } from '../kit/run.js';
import { paymentDisputedSignal } from '../messages.js';
import { isGivenAgain } from './given-again.js';
import type { Billing, SubscriptionCommand } from './state.js';

const PREFIX = 'disputed-';
const MOST_KEPT = 100;

/** True for the command that a dispute gives by itself. */
export function isOfDispute(commandId: string): boolean {
  return commandId.startsWith(PREFIX);
}

/**
 * A chargeback of one of its payments acts as the subscription says: as a command of its own, once for each payment,
 * however often it is told. A payment under way goes on to its end.
 */
export function registerPaymentDisputed(flow: Billing): void {
  setHandler(paymentDisputedSignal, (payload) => {
    readableOrRetry(payload, 'news of a dispute');
    const told = paymentDisputedSchema.safeParse(payload);
    if (!told.success || subscriptionOfAttempt(told.data.paymentReference) !== flow.input.reference)
      ignore(flow, 'malformedDispute');
    // Our activity encrypts it; anybody with access to Temporal can write in clear.
    else if (!isSealed(payload)) ignore(flow, 'disputeInClear');
    else if (isKnownDispute(flow, told.data.paymentId)) ignore(flow, 'disputeAgain');
    else if (flow.ended !== undefined || flow.failure !== undefined) ignore(flow, 'disputeAfterEnd');
    else actOnDispute(flow, told.data);
  });
}

export function isKnownDispute({ disputed }: Billing, paymentId: string): boolean {
  return disputed?.includes(paymentId) === true;
}

export function actOnDispute(flow: Billing, { paymentId, paymentReference }: PaymentDisputed): void {
  flow.disputed = [...(flow.disputed ?? []), paymentId].slice(-MOST_KEPT);
  const command = commandOf(flow, paymentId, `payment ${paymentReference} is disputed`);
  if (command === undefined) return;
  Object.assign(command, isGivenAgain(flow));
  flow.commands.set(command.commandId, command);
  enqueue(flow, command);
}

/**
 * A reset gives signals and updates again in one task, and the SDK hands them over in the order of the history the first
 * time but signals first in a replay (see docs/decisions/0012). What a dispute does goes behind the commands that came with
 * it, in both: the flow would ask for other things in the replay, and a `resume` of before the dispute would undo its pause.
 */
export function enqueue({ queue }: Billing, command: SubscriptionCommand): void {
  const isBehind = ({ commandId, at }: SubscriptionCommand): boolean => isOfDispute(commandId) && at === command.at;
  const behind = isOfDispute(command.commandId) ? -1 : queue.findIndex(isBehind);
  queue.splice(behind === -1 ? queue.length : behind, 0, command);
}

function commandOf({ input }: Billing, paymentId: string, why: string): SubscriptionCommand | undefined {
  const commandId = `${PREFIX}${paymentId}`;
  const at = Date.now();
  switch (input.onDispute ?? 'pause') {
    case 'pause':
      return { commandId, name: 'pause', request: { openPeriod: 'hold', why }, at };
    case 'cancel':
      return { commandId, name: 'cancel', request: { when: 'now', why }, at };
    case 'continue':
      return undefined;
  }
}
