import { z } from 'zod';
import { DECLINE_KINDS, type DeclineKind } from '../contract/declines.js';
import { LONGEST_CAP_DAYS, SCHEME_CAPS } from '../domain/card-tries.js';
import { DECLINE_CATEGORIES, isForGood } from '../domain/decline.js';

/** Each payment of the unit records its table: one of any length would swell every history. */
const MOST_ENTRIES = 50;

// Not an enum, which would end the check: the names would not be looked at, and not every fault be listed.
const kindSchema = z.custom<DeclineKind>((kind) => DECLINE_KINDS.some((one) => one === kind), {
  error: `is none of ${DECLINE_KINDS.join(', ')}`,
  abort: false,
});

function table(faultOf: (name: string, kind: unknown) => string | undefined) {
  return z
    .record(z.string(), kindSchema)
    .refine((kinds) => Object.keys(kinds).length <= MOST_ENTRIES, `has more than ${MOST_ENTRIES} entries`)
    .superRefine((kinds, context) => {
      for (const [name, kind] of Object.entries(kinds)) {
        const message = faultOf(name, kind);
        if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message });
      }
    });
}

const categoriesSchema = table((name) =>
  DECLINE_CATEGORIES.includes(name)
    ? undefined
    : `is no category of a decline; use one of ${DECLINE_CATEGORIES.join(', ')}`,
);

const subCategoriesSchema = table((name, kind) => {
  if (DECLINE_CATEGORIES.includes(name)) return 'is a category; put it under categories';
  if (!/^[a-z][a-z0-9_]{1,63}$/.test(name)) return 'is no name of a sub-category, such as insufficient_funds';
  if (!isForGood(name) || kind === 'hard') return undefined;
  return 'can only be hard: card schemes forbid another try of a card that is lost, stolen, to be picked up or denied by its holder';
});

const allowed = SCHEME_CAPS.map(({ tries, days }) => `${tries} in ${days === 1 ? '24 hours' : `${days} days`}`);
const ABOVE = `is above what card schemes allow: ${allowed.join(' (Visa) and ')} (Mastercard)`;
const MOST_TRIES = Math.max(...SCHEME_CAPS.map(({ tries }) => tries));

const capSchema = z
  .strictObject({
    tries: z.int().min(1, 'must be at least 1: with fewer no card could be charged').max(MOST_TRIES, ABOVE),
    days: z.int().min(1, 'must be at least 1').max(LONGEST_CAP_DAYS, `must be at most ${LONGEST_CAP_DAYS}`),
  })
  .superRefine(({ tries, days }, context) => {
    if (tries > MOST_TRIES || !SCHEME_CAPS.some((cap) => days <= cap.days && tries > cap.tries)) return;
    context.addIssue({ code: 'custom', path: ['tries'], message: ABOVE });
  });

/** How declines of a unit count, and how often a declined card is tried. */
export const declinesSchema = z.strictObject({
  categories: categoriesSchema.exactOptional(),
  subCategories: subCategoriesSchema.exactOptional(),
  unknown: z.enum(['soft', 'hard', 'merchant'], { error: 'is none of soft, hard, merchant' }).exactOptional(),
  cap: capSchema.exactOptional(),
});
