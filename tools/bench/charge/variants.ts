/** The baseline, and the variants of Holdfast's charge that docs/decisions/0001 compares. */
export const VARIANTS = ['naive', 'regular', 'payment-local', 'local-first'] as const;
export type Variant = (typeof VARIANTS)[number];

export const NAIVE_TASK_QUEUE = 'naive';
