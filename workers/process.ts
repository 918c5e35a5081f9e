import { createServer } from 'node:net';
import { ConfigError, describe, secretsOf, type Settings } from '../src/config/index.js';
import { describeError } from '../src/security/log-fields.js';
import { createLogger, type Logger } from '../src/security/logging.js';
import { createRedactor } from '../src/security/redact.js';

/** A process has this long to stop in good order; then it ends anyway. */
const STOP_WITHIN_MS = 8000;

const SAME_PRESS_MS = 1000;

/** Something that keeps a process from starting and that a person can mend. Shown without a stack. */
export class StartFault extends Error {
  override readonly name = 'StartFault';
}

interface RunningService {
  /** Where it serves, for the `ready` line. */
  url: string;
  /** Stops taking work, finishes what it has, closes everything. */
  stop: () => Promise<void>;
  /** Rejects when the service can't go on; the process then ends with 1. */
  failed?: Promise<never>;
}

export interface ProcessOptions<C extends Settings> {
  name: 'worker' | 'webhook' | 'codec' | 'sandbox';
  /** Throws ConfigError with every fault. */
  load: (env: NodeJS.ProcessEnv) => C;
  /** `stopping` is aborted by the first signal: a start that waits for something must end with it. */
  start: (context: { config: C; logger: Logger; stopping: AbortSignal }) => Promise<RunningService>;
}

/**
 * Runs one service as a process: checks its configuration first, prints `ready <name> <url>` on
 * standard output once it serves, stops in good order on SIGTERM or SIGINT and ends with 0. A fault of
 * the configuration, a taken port or a failure ends it with 1 and says why on standard error.
 */
export async function runProcess<C extends Settings>({ name, load, start }: ProcessOptions<C>): Promise<never> {
  // The reader of our output may go away first; that is no reason to stop serving.
  process.stdout.on('error', () => undefined);
  process.stderr.on('error', () => undefined);
  const stopping = new AbortController();
  const signalled = firstSignal(stopping);
  try {
    const config = load(process.env);
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
    // Told to stop while it was starting: what waited for `stopping` has given up, as it should.
    if (stopping.signal.aborted && isAbort(error)) return process.exit(0);
    process.stderr.write(`${explain(name, error)}\n`);
    return process.exit(1);
  }
}

/** Resolves with the first SIGTERM or SIGINT. From then on the clock runs; a second signal ends the process at once. */
async function firstSignal(stopping: AbortController): Promise<string> {
  return new Promise((resolve) => {
    let first: number | undefined;
    const onSignal = (signal: string) => {
      // Ctrl-C reaches the whole process group, and whoever started us passes it on: one press, two signals.
      if (first !== undefined && Date.now() - first < SAME_PRESS_MS) return;
      if (first !== undefined) process.exit(130);
      first = Date.now();
      stopping.abort();
      setTimeout(() => {
        process.stderr.write(`Did not stop within ${STOP_WITHIN_MS / 1000} s; ending now.\n`);
        process.exit(1);
      }, STOP_WITHIN_MS).unref();
      resolve(signal);
    };
    process.on('SIGTERM', onSignal);
    process.on('SIGINT', onSignal);
  });
}

/** Node would print the whole error, whose properties may hold anything. */
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
 * Listens and answers the address. A port that is taken or not allowed becomes a sentence.
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

/**
 * For a port that somebody else will open, as the SDK does for its metrics: the port if it is free, any
 * free one for 0.
 * @throws StartFault
 */
export async function reservePort(address: ListenAddress): Promise<number> {
  const server = createServer();
  return new Promise((resolve, reject) => {
    server.once('error', (error) => reject(listenFault(error, address)));
    server.listen({ host: address.host, port: address.port }, () => {
      const bound = server.address();
      const port = typeof bound === 'object' && bound !== null ? bound.port : address.port;
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
