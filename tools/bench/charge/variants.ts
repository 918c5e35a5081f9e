/** Holdfast with the three events of each charge, without them, and a naive charge as the baseline. */
export const VARIANTS = ['events', 'no-events', 'naive'] as const;
export type Variant = (typeof VARIANTS)[number];

export const NAIVE_TASK_QUEUE = 'naive';

/** Business unit whose payments are created with a wrong amount, so that its charges wait for an operator. */
export const WAITING_UNIT = 'waiting';
