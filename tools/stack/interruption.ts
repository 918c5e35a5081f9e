/** A terminal sends Ctrl-C to the whole group and npm passes it on once more: both are the same key press. */
const SAME_PRESS_MS = 1_000;

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

export interface Interruption {
  signal: AbortSignal;
  /** Resolves when the person, or whoever started us, wants the stack gone. */
  requested: Promise<void>;
}

/**
 * Listens for Ctrl-C, SIGTERM, SIGHUP, a closed output and faults that nobody caught. The first asks to stop; one that
 * comes more than a second later calls `insist`. `onFault` hears of each fault: what runs must still be stopped in
 * good order.
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
