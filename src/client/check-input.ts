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

/** The same with the faults that depend on the day. */
export function checkSubscriptionInput(input: unknown): ParsedSubscriptionInput {
  const checked = checkSubscription(input, Date.now());
  if ('input' in checked) return checked.input;
  throw invalid(checked.faults);
}

function invalid(faults: string[]): HoldfastError {
  return new HoldfastError('InvalidInput', `Nothing was started: ${faults.join('; ')}`, faults);
}
