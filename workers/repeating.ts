/**
 * Runs `report` now and every `ms`. It must not reject.
 * @returns ends that, once the one under way has ended: a call on a connection that is closed meanwhile throws from the
 *   SDK's timer, which ends the process
 */
export function repeating(report: () => Promise<void>, ms: number): () => Promise<void> {
  let last = report();
  const timer = setInterval(() => {
    last = last.then(report);
  }, ms).unref();
  return async () => {
    clearInterval(timer);
    await last;
  };
}
