/**
 * How a decline counts. `soft`: the same card may be tried again under a new reference. `hard`: only another card.
 * `merchant`: nobody may try before somebody has mended the cause. `unknown`: like a decline that no table knows.
 */
export const DECLINE_KINDS = ['soft', 'hard', 'merchant', 'unknown'] as const;
export type DeclineKind = (typeof DECLINE_KINDS)[number];

/**
 * What a business unit says of declines beyond the built-in table. Plain data: activities record it, because a workflow
 * that read configuration would not replay.
 */
export interface DeclineTable {
  categories?: Readonly<Record<string, DeclineKind>>;
  subCategories?: Readonly<Record<string, DeclineKind>>;
  /** Default `soft`. */
  unknown?: Exclude<DeclineKind, 'unknown'>;
}

/** So many declined tries of one card within so many days; one more is not sent. */
export interface CardCap {
  tries: number;
  days: number;
}
