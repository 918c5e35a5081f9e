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
  const cardData = cardDataFaults(input);
  if ('input' in checked && cardData.length === 0) return { input: checked.input, late: undefined };
  const fault = invalid([...('faults' in checked ? checked.faults : []), ...cardData]);
  if ('late' in checked && checked.late !== undefined && cardData.length === 0) {
    return { input: checked.late, late: fault };
  }
  throw fault;
}

function cardDataFaults(input: unknown): string[] {
  return findCardData(input).map(
    (path) => `${path}: looks like a card number or CVV, which must never enter a history`,
  );
}

function invalid(faults: string[]): HoldfastError {
  return new HoldfastError('InvalidInput', `Nothing was started: ${faults.join('; ')}`, faults);
}
