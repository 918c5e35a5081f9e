import { z } from 'zod';
import type { Done } from './answers.js';
import { minorUnits, shortText } from './fields.js';
import { type Holdfast, WAIT } from './holdfast.js';
import { isKnown, movedNothing, sayCommand } from './say-outcome.js';
import { sayStatus } from './texts.js';

export const commandSchema = z.strictObject({
  command: z.enum(['capture', 'void', 'refund', 'cancel']),
  /** A decimal such as "10.95". Default: all that is left. */
  amount: shortText.optional(),
  currency: shortText.optional(),
  /** A repeat with the same id is the same command. */
  commandId: shortText,
});

/**
 * Sends a command to a payment, or to a subscription, by its reference.
 * @throws HoldfastError
 */
export async function sendCommand(
  holdfast: Holdfast,
  reference: string,
  asked: z.output<typeof commandSchema>,
): Promise<Omit<Done, 'workflowId'>> {
  const { command, commandId, currency = '' } = asked;
  const who = { commandId, who: 'the console', why: 'a person pressed the button' };
  if (command === 'cancel') {
    const { status } = await holdfast.subscription.cancel(reference, { ...who, when: 'now' });
    return { status, said: sayStatus(status, null), isKnown: true };
  }
  const amount = asked.amount === undefined ? {} : { amount: minorUnits(asked.amount, currency) };
  const send = {
    void: () => holdfast.void(reference, who, WAIT),
    capture: () => holdfast.capture(reference, { ...who, ...amount }, WAIT),
    refund: () => holdfast.refund({ payment: reference, ...who, ...amount }, WAIT),
  }[command];
  const outcome = await send();
  return {
    status: outcome.status,
    said: sayCommand(NAMES[command], outcome),
    isKnown: isKnown(outcome),
    ...(movedNothing(outcome) && { movedNothing: true }),
  };
}

const NAMES = { void: 'Void', capture: 'Capture', refund: 'Refund' } as const;
