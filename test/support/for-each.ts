/**
 * Runs `act` for every item, so many at a time. Begins no more once one has failed, and throws that failure only when
 * those under way have ended: what went on in the background would disturb the tests that follow.
 */
export async function forEach<Item>(
  items: Iterable<Item>,
  concurrency: number,
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const failures: unknown[] = [];
  const queue = items[Symbol.iterator]();
  const worker = async (): Promise<void> => {
    for (let next = queue.next(); !next.done && failures.length === 0; next = queue.next()) {
      try {
        await act(next.value);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  if (failures.length > 0) throw failures[0];
}
