/** The baseline, and Holdfast's charge. */
export const VARIANTS = ['naive', 'holdfast'] as const;
export type Variant = (typeof VARIANTS)[number];

export const NAIVE_TASK_QUEUE = 'naive';
