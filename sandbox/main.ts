import { pino } from 'pino';
import { startSandbox } from './server.js';
import { settingsFromEnvironment, type ProcessSettings } from './settings.js';

/** Runs the sandbox as a process: one `ready` line on stdout once it serves, logs on stderr. */
async function main(): Promise<void> {
  const process_ = readSettings();
  const log = pino({ level: process_.logLevel, name: 'sandbox' }, pino.destination(2));
  const sandbox = await startSandbox({ ...process_, log }).catch((error: unknown) => fail(explain(error, process_)));
  let isStopping = false;
  const stop = (): void => {
    // Ctrl-C reaches the whole process group, and parents forward it: one press gives more than one signal.
    if (isStopping) return;
    isStopping = true;
    // A close that hangs must not exceed the supervisor's stop timeout.
    setTimeout(() => process.exit(1), 8_000).unref();
    sandbox.close().then(
      () => process.exit(0),
      (error: unknown) => fail(explain(error, process_)),
    );
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  // Last, because the reader of this line may send a signal at once.
  process.stdout.write(`ready sandbox ${sandbox.url}\n`);
}

function readSettings(): ProcessSettings {
  try {
    return settingsFromEnvironment(process.env);
  } catch (error) {
    return fail((error as Error).message);
  }
}

function explain(error: unknown, { port }: ProcessSettings): string {
  const { code, message } = error as NodeJS.ErrnoException;
  return code === 'EADDRINUSE'
    ? `Port ${port} is taken: stop what listens there, or move the sandbox with HOLDFAST_SANDBOX_PORT.`
    : message;
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}

await main();
