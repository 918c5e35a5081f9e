/** The baseline, and Holdfast's charge in the shapes that were weighed (docs/decisions/0001). */
export const VARIANTS = ['naive', 'regular', 'payment-local', 'local-first'] as const;
export type Variant = (typeof VARIANTS)[number];

export const NAIVE_TASK_QUEUE = 'naive';
