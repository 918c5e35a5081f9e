/**
 * A start event number of 5 or less can only be the first workflow task's in its first try: one that timed out or
 * failed adds three events before the next one starts, and early messages add at most two.
 */
export const FIRST_TASK_MAX_EVENTS = 5;
