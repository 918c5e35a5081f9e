import { z } from 'zod';
import { isCurrency } from '../contract/currencies.js';
import { durationMs } from '../contract/fields.js';
import type { OutgoingLimits } from '../contract/outgoing.js';

/** ms. What nobody has approved by then is refused. */
const APPROVE_WITHIN_MS = 3 * 24 * 3_600_000;
const LEAST_MS = 60_000;
const MOST_MS = 30 * 24 * 3_600_000;

// Not an int, whose fault would end the check: the currencies would not be looked at, and not every fault be listed.
const sumSchema = z.custom<number>((sum) => Number.isSafeInteger(sum) && (sum as number) >= 0, {
  error: 'is not a whole number of minor units, 0 or more',
  abort: false,
});

const sumsSchema = z.record(z.string(), sumSchema).superRefine((sums, context) => {
  for (const code of Object.keys(sums))
    if (!isCurrency(code))
      context.addIssue({ code: 'custom', path: [code], message: 'is no ISO 4217 currency code, such as EUR' });
});

/** What a unit may send to cards before another person has to approve it. A currency that is not named has no limit. */
export const outgoingSchema = z
  .strictObject({
    perCall: sumsSchema.exactOptional(),
    perDay: sumsSchema.exactOptional(),
    refundsPerCard: z.int().min(0, 'must not be negative').max(10_000).exactOptional(),
    approveWithin: z
      .string()
      .refine((value) => {
        const ms = durationMs(value);
        return ms !== undefined && ms >= LEAST_MS && ms <= MOST_MS;
      }, 'is not a duration from "1 minute" to "30 days"')
      .exactOptional(),
  })
  .refine(
    ({ perCall, perDay, refundsPerCard }) => [perCall, perDay, refundsPerCard].some((limit) => limit !== undefined),
    'names no limit: give perCall, perDay or refundsPerCard, or leave it out',
  );

export function outgoingLimits({ approveWithin, ...limits }: z.output<typeof outgoingSchema>): OutgoingLimits {
  const within = approveWithin === undefined ? undefined : durationMs(approveWithin);
  return { ...limits, approveWithinMs: within ?? APPROVE_WITHIN_MS };
}
