import type { z } from 'zod';
import { faultsOf } from '../contract/fields.js';
import type { SharedSchema } from '../contract/shared-schema.js';
import type { ParsedSubscriptionInput } from '../contract/subscription.js';
import { checkSubscription } from '../domain/check-subscription.js';
import { HoldfastError } from './errors.js';

/**
 * Refuses invalid input before any workflow starts and lists every fault.
 * @throws HoldfastError `InvalidInput`
 */
export function checkInput<Schema extends z.ZodType>(schema: SharedSchema<Schema>, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw invalid(faultsOf(parsed.error));
}

/** The input of a subscription, and the error if it is too late to start it. */
export interface CheckedSubscriptionInput {
  input: ParsedSubscriptionInput;
  /** Set when the subscription can't be started any more. It can still be joined if it was started before. */
  late: HoldfastError | undefined;
}

/**
 * Checks the input of a subscription, including the faults that depend on the current date.
 * @throws HoldfastError `InvalidInput` for faults that do not depend on the date
 */
export function checkSubscriptionInput(input: unknown): CheckedSubscriptionInput {
  const checked = checkSubscription(input, Date.now());
  if ('input' in checked) return { input: checked.input, late: undefined };
  const fault = invalid(checked.faults);
  if (checked.late !== undefined) return { input: checked.late, late: fault };
  throw fault;
}

function invalid(faults: string[]): HoldfastError {
  return new HoldfastError('InvalidInput', `Nothing was started: ${faults.join('; ')}`, faults);
}
