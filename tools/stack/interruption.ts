/** ms in which signals are one key press: a terminal sends Ctrl-C to the whole group, and npm forwards it again. */
const SAME_PRESS_MS = 1_000;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Interruption {
  signal: AbortSignal;
  /** Resolves when the user, or the parent process, wants the stack stopped. */
  requested: Promise<void>;
}

/**
 * Listens for Ctrl-C, SIGTERM, SIGHUP, a closed output and uncaught errors. The first one requests a stop; one that
 * comes more than a second later calls `insist`. `onFault` is called with each uncaught error, after which the
 * processes must still be stopped in order.
 */
export function listenForInterruption(insist: () => void, onFault: (error: unknown) => void): Interruption {
  const controller = new AbortController();
  let first = 0;
  const interrupt = (): void => {
    if (!controller.signal.aborted) {
      first = Date.now();
      controller.abort();
    } else if (Date.now() - first > SAME_PRESS_MS) {
      insist();
    }
  };
  for (const name of SIGNALS) process.on(name, interrupt);
  for (const name of ['uncaughtException', 'unhandledRejection']) {
    process.on(name, (error: unknown) => {
      onFault(error);
      interrupt();
    });
  }
  process.stdout.on('error', interrupt);
  process.stderr.on('error', interrupt);
  const requested = new Promise<void>((resolve) => {
    controller.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  return { signal: controller.signal, requested };
}
