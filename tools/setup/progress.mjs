/** Prints to stderr, because stdout belongs to the command that is being set up. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/** Runs `work` and prints its title, and every 10 s that it is still running. */
export async function withProgress(title, work) {
  const started = Date.now();
  const seconds = () => `${((Date.now() - started) / 1000).toFixed(1)} s`;
  say(`${title} ...`);
  const timer = setInterval(() => say(`${title} ... still working, ${seconds()}`), 10_000);
  timer.unref();
  try {
    const result = await work();
    say(`${title}: done in ${seconds()}`);
    return result;
  } finally {
    clearInterval(timer);
  }
}
