/**
 * Options of a cache that holds at most so many entries. With `max` it would take the memory of all of them when it is
 * made.
 */
export const atMost = (entries: number) => ({ maxSize: entries, sizeCalculation: () => 1 });
