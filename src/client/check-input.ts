import type { z } from 'zod';
import { faultsOf } from '../contract/fields.js';
import type { SharedSchema } from '../contract/shared-schema.js';
import type { ParsedSubscriptionInput } from '../contract/subscription.js';
import { checkSubscription } from '../domain/check-subscription.js';
import { findCardData } from '../security/card-data-detector.js';
import { HoldfastError } from './errors.js';

/**
 * Refuses bad input before any workflow starts, every fault listed.
 * @throws HoldfastError `InvalidInput`
 */
export function checkInput<Schema extends z.ZodType>(schema: SharedSchema<Schema>, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  const faults = [...(parsed.success ? [] : faultsOf(parsed.error)), ...cardDataFaults(input)];
  if (parsed.success && faults.length === 0) return parsed.data;
  throw invalid(faults);
}

/** The same with the faults that depend on the day. */
export function checkSubscriptionInput(input: unknown): ParsedSubscriptionInput {
  const checked = checkSubscription(input, Date.now());
  const faults = [...('faults' in checked ? checked.faults : []), ...cardDataFaults(input)];
  if ('input' in checked && faults.length === 0) return checked.input;
  throw invalid(faults);
}

function cardDataFaults(input: unknown): string[] {
  return findCardData(input).map(
    (path) => `${path}: looks like a card number or CVV, which must never enter a history`,
  );
}

function invalid(faults: string[]): HoldfastError {
  return new HoldfastError('InvalidInput', `Nothing was started: ${faults.join('; ')}`, faults);
}
