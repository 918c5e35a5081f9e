import { setTimeout as sleep } from 'node:timers/promises';
import { listenForInterruption, type Interruption } from './interruption.js';
import type { Stack } from './stack.js';

/** Errors whose message suffices: a stack trace would only hide it. By name, so that nothing is loaded early. */
const EXPLAINED = new Set([
  'ArgumentError',
  'BootError',
  'ConfigError',
  'NamespaceError',
  'ServerSilentError',
  'StackRunningError',
  'StackSettingsError',
  'StateFormatError',
]);

/** ms to wait, before a boot error is reported, for a Ctrl-C that reaches this process later than its children. */
const CTRL_C_MS = 250;

export const print = (line: string): void => void process.stdout.write(`${line}\n`);
export const printError = (line: string): void => void process.stderr.write(`${line}\n`);

/** Runs a command. Resolves with its exit code: 1 if it throws, after the reason was printed. */
export async function exitCodeOf(command: () => Promise<number>): Promise<number> {
  try {
    return await command();
  } catch (error) {
    printError(explain(error));
    return 1;
  }
}

export interface ServeTexts {
  /** What an uncaught error leads to. */
  onFault: string;
  /** Printed when a second Ctrl-C kills all processes. */
  onKill: string;
}

/**
 * Boots the stack, runs `work` on it and stops it. The boot may have been interrupted when `work` is called: see its
 * signal. Resolves with the exit code of `work`, or with 1 after an uncaught error.
 */
export async function serve(
  stack: Stack,
  { onFault, onKill }: ServeTexts,
  work: (interruption: Interruption) => Promise<number>,
): Promise<number> {
  let faulty = false;
  const insist = (): void => {
    printError(onKill);
    // A killed process takes a moment to end, and no process of the stack may outlive this one.
    void stack.killAll().finally(() => process.exit(1));
  };
  const interruption = listenForInterruption(insist, (error) => {
    faulty = true;
    printError(`A fault that nothing caught; ${onFault}: ${explain(error)}`);
  });
  // Also after an uncaught error, because no process of the stack may outlive this one.
  process.once('exit', () => stack.killNow());
  let code: number;
  try {
    await bootUnlessInterrupted(stack, interruption);
    code = await work(interruption);
  } finally {
    await stack.stop();
  }
  return faulty ? 1 : code;
}

async function bootUnlessInterrupted(stack: Stack, { requested, signal }: Interruption): Promise<void> {
  const booting = stack.boot();
  try {
    await Promise.race([booting, requested]);
  } catch (error) {
    // Ctrl-C goes to the whole group and may reach the children first. The boot has not failed then.
    await Promise.race([requested, sleep(CTRL_C_MS)]);
    if (!signal.aborted) throw error;
  }
  // The boot fails once the stack is stopped. That error is expected.
  booting.catch(() => undefined);
}

function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return EXPLAINED.has(error.name) ? error.message : (error.stack ?? error.message);
}
