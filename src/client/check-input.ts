import type { z } from 'zod';
import { faultsOf } from '../contract/fields.js';
import type { SharedSchema } from '../contract/shared-schema.js';
import { findCardData } from '../security/card-data-detector.js';
import { HoldfastError } from './errors.js';

/**
 * Refuses bad input before any workflow starts, every fault listed.
 * @throws HoldfastError `InvalidInput`
 */
export function checkInput<Schema extends z.ZodType>(schema: SharedSchema<Schema>, input: unknown): z.output<Schema> {
  const parsed = schema.safeParse(input);
  const faults = [
    ...(parsed.success ? [] : faultsOf(parsed.error)),
    ...findCardData(input).map((path) => `${path}: looks like a card number or CVV, which must never enter a history`),
  ];
  if (parsed.success && faults.length === 0) return parsed.data;
  throw new HoldfastError('InvalidInput', `Nothing was started: ${faults.join('; ')}`, faults);
}
