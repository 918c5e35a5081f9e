import { z } from 'zod';
import { show } from './fields.js';
import { SharedSchema } from './shared-schema.js';

const UNITS: Record<string, number> = {
  ms: 1,
  msec: 1,
  millisecond: 1,
  s: 1_000,
  sec: 1_000,
  second: 1_000,
  m: 60_000,
  min: 60_000,
  minute: 60_000,
  h: 3_600_000,
  hr: 3_600_000,
  hour: 3_600_000,
  d: 86_400_000,
  day: 86_400_000,
  w: 604_800_000,
  week: 604_800_000,
};
/** A longer duration added to a time could yield an invalid date, which would wedge a flow. */
const LONGEST_MS = 100_000 * 604_800_000;
const PATTERN = /^(\d+(?:\.\d+)?) ?([a-z]+?)s?$/;

/**
 * Parses a duration as the Temporal SDK writes it: "8 seconds", "6 days", or a number of ms.
 * @returns ms, or undefined for anything else and beyond 100,000 weeks
 */
export function durationMs(value: string | number): number | undefined {
  if (typeof value === 'number')
    return Number.isSafeInteger(value) && value >= 0 && value <= LONGEST_MS ? value : undefined;
  const [, amount, unit] = PATTERN.exec(value.toLowerCase()) ?? [];
  const factor = unit === 'm' && value.toLowerCase().endsWith('ms') ? UNITS['ms'] : UNITS[unit ?? ''];
  if (amount === undefined || factor === undefined) return undefined;
  const ms = Math.round(Number(amount) * factor);
  return ms <= LONGEST_MS ? ms : undefined;
}

export const durationSchema = new SharedSchema(
  z.union([z.string(), z.number()]).refine((value) => durationMs(value) !== undefined, {
    error: (issue) => `${show(issue.input)} is not a duration, such as "8 seconds" or "6 days"`,
  }),
);
