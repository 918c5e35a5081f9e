/**
 * If the workflow task's start event number is 5 or less, it is the first attempt of the first task: a failed or
 * timed-out attempt adds three events before the next one starts, and early messages add at most two.
 */
export const FIRST_TASK_MAX_EVENTS = 5;
