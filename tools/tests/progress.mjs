const OFTEN_MS = 200;

/** Shows the progress of the run in one line if stdout is a terminal. Returns a function that removes the line. */
export function showProgress(events) {
  if (!process.stdout.isTTY) return () => {};
  const started = Date.now();
  const timer = setInterval(() => {
    const { passed, failed } = events.read().counts;
    const seconds = Math.round((Date.now() - started) / 1000);
    const done = `${events.files.length}/${events.chosen.length} files, ${passed} passed, ${failed} failed, ${seconds} s`;
    const now = [...events.running].map((file) => file.replace(/^test\/|\.test\.ts$/g, '')).join(', ');
    process.stdout.write(`\r\u001b[K${`${done}  ${now}`.slice(0, (process.stdout.columns ?? 80) - 1)}`);
  }, OFTEN_MS);
  let shown = true;
  return () => {
    clearInterval(timer);
    if (shown) process.stdout.write('\r\u001b[K');
    shown = false;
  };
}
