import { type AddressInfo, createServer } from 'node:net';
import { ConfigError, describe, secretsOf, type Settings } from '../src/config/index.js';
import { describeError, createLogger, type Logger, createRedactor } from '../src/security/logging.js';

/** A process that has not stopped cleanly after this time exits anyway, unless it names another. */
const STOP_WITHIN_MS = 8000;

const SAME_PRESS_MS = 1000;

/** A fault that keeps a process from starting and that a person can fix. It is shown without a stack. */
export class StartFault extends Error {
  override readonly name = 'StartFault';
}

interface RunningService {
  /** URL that it serves, for the `ready` line. */
  url: string;
  /** Stops taking work, finishes work in progress, closes everything. */
  stop: () => Promise<void>;
  /** Rejects when the service can't continue; the process then exits with 1. */
  failed?: Promise<never>;
}

export interface ProcessOptions<C extends Settings> {
  name: 'worker' | 'webhook' | 'codec' | 'console';
  /** Throws ConfigError with every fault. */
  load: (env: NodeJS.ProcessEnv) => C;
  /** How long in ms it may take to stop. Default 8000. */
  stopWithinMs?: (config: C) => number;
  /** The first signal aborts `stopping`: a start that still waits must end then. */
  start: (context: { config: C; logger: Logger; stopping: AbortSignal }) => Promise<RunningService>;
}

/**
 * Runs one service as a process: checks its configuration first, prints `ready <name> <url>` on standard output once it
 * serves, stops cleanly on SIGTERM or SIGINT and exits with 0. After a fault of the configuration, a taken port or a
 * failure it exits with 1 and prints the reason on standard error.
 */
export async function runProcess<C extends Settings>({
  name,
  load,
  stopWithinMs,
  start,
}: ProcessOptions<C>): Promise<never> {
  // A closed output pipe must not end the service.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  const stopping = new AbortController();
  let limitMs = STOP_WITHIN_MS;
  const signalled = firstSignal(stopping, () => limitMs);
  try {
    const config = load(process.env);
    limitMs = stopWithinMs?.(config) ?? limitMs;
    const secrets = secretsOf(config);
    const logger = createLogger({ name, level: config.logLevel, secrets });
    endOnStrayErrors(logger);
    for (const line of describe(config)) logger.info(line);
    const service = await start({ config, logger, stopping: stopping.signal });
    if (!stopping.signal.aborted) process.stdout.write(`ready ${name} ${service.url}\n`);
    const signal = await Promise.race([signalled, service.failed ?? signalled]);
    logger.info({ signal }, 'Stopping');
    await service.stop();
    logger.info('Stopped');
    return process.exit(0);
  } catch (error) {
    // A signal during the start has aborted it through `stopping`: that is a clean exit.
    if (stopping.signal.aborted && isAbort(error)) return process.exit(0);
    process.stderr.write(`${explain(name, error)}\n`);
    return process.exit(1);
  }
}

/** Resolves with the first SIGTERM or SIGINT and starts the stop timeout. A second signal ends the process at once. */
async function firstSignal(stopping: AbortController, limitMs: () => number): Promise<string> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const onSignal = (signal: string) => {
      // Ctrl-C reaches the whole process group, and the parent process forwards it: one press gives two signals.
      if (first !== undefined && Date.now() - first < SAME_PRESS_MS) return;
      if (first !== undefined) process.exit(130);
      first = Date.now();
      stopping.abort();
      const within = limitMs();
      setTimeout(() => {
        process.stderr.write(`Did not stop within ${within / 1000} s; ending now.\n`);
        process.exit(1);
      }, within).unref();
      resolve(signal);
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}

/** Without this, Node prints the whole error, whose properties may hold secrets. */
function endOnStrayErrors(logger: Logger): void {
  const end = (err: unknown) => {
    logger.fatal({ err }, 'Unexpected error; ending');
    process.exit(1);
  };
  process.on('uncaughtException', end);
  process.on('unhandledRejection', end);
}

function isAbort(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'name' in error && error.name === 'AbortError';
}

function explain(name: string, error: unknown): string {
  if (error instanceof ConfigError) {
    const count = error.faults.length === 1 ? '1 fault' : `${error.faults.length} faults`;
    return [`${name}: the configuration has ${count}:`, ...error.faults.map((fault) => `- ${fault}`)].join('\n');
  }
  if (error instanceof StartFault) return `${name}: ${error.message}`;
  const { type, message, code } = describeError(error);
  return createRedactor()(`${name}: could not go on: ${type}: ${message}${code === undefined ? '' : ` (${code})`}`);
}

export interface ListenAddress {
  host: string;
  port: number;
  /** The variable that moves the port. */
  setting: string;
}

/**
 * Listens and returns the address. A port that is taken or not allowed becomes a readable fault.
 * @throws StartFault
 */
export async function listen(
  server: { listen(options: { host: string; port: number }): Promise<string> },
  address: ListenAddress,
): Promise<string> {
  try {
    return await server.listen({ host: address.host, port: address.port });
  } catch (error) {
    throw listenFault(error, address);
  }
}

/** A free port of this machine's own address, for other code to open later: the SDK, which takes no 0. */
export async function freeLocalPort(): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host: '127.0.0.1', port: 0 }, () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

function listenFault(error: unknown, { host, port, setting }: ListenAddress): unknown {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (code === 'EADDRINUSE')
    return new StartFault(`port ${port} on ${host} is already taken: set ${setting} to a free port.`);
  if (code === 'EACCES')
    return new StartFault(`port ${port} is not allowed for this user: set ${setting} to one above 1023.`);
  if (code === 'EADDRNOTAVAIL') {
    return new StartFault(`this machine has no address ${host}: set HOLDFAST_BIND_ADDRESS to one of its own.`);
  }
  return error;
}
