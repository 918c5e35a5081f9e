import type { z } from 'zod';
import { faultsOf } from '../contract/fields.js';
import type { SharedSchema } from '../contract/shared-schema.js';
import type { ParsedSubscriptionInput } from '../contract/subscription.js';
import { checkSubscription } from '../domain/check-subscription.js';
import { HoldfastError } from './errors.js';

/**
 * Refuses bad input before any workflow starts, every fault listed.
 * @throws HoldfastError `InvalidInput`
 */
export function checkInput<Schema extends z.ZodType>(schema: SharedSchema<Schema>, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  if (parsed.success) return parsed.data;
  throw invalid(faultsOf(parsed.error));
}

/** The input of a subscription, and what its day is at fault for: nothing, where it has been started before. */
export interface CheckedSubscriptionInput {
  input: ParsedSubscriptionInput;
  /** Set when it can't be started any more, only joined. */
  late: HoldfastError | undefined;
}

/**
 * The same with the faults that depend on the day.
 * @throws HoldfastError `InvalidInput` for what is wrong on every day
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
