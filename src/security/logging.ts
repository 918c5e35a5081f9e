import type { Logger as SdkLogger, LogLevel as SdkLogLevel } from '@temporalio/common';
import { destination, pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';
import { allowedFields } from './log-fields.js';
import { createRedactor } from './redact.js';

export type { Logger } from 'pino';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface LoggerOptions {
  /** Name of the process: worker, webhook, codec... */
  name: string;
  level?: LogLevel;
  /** Masked with stars anywhere in a line. */
  secrets?: readonly string[];
  /** Default: standard error, written synchronously so that the last line before an exit is not lost. */
  stream?: DestinationStream;
}

/**
 * A pino logger that writes JSON lines with allow-listed fields only (see `log-fields.ts`). Usage:
 * `logger.info({ workflowId }, 'Started')`, and `{ err }` for errors.
 */
export function createLogger({ name, level = 'info', secrets = [], stream }: LoggerOptions): Logger {
  const redact = createRedactor(secrets);
  const allow = (fields: object) => allowedFields(fields as Record<string, unknown>, logger.isLevelEnabled('debug'));
  const logger: Logger = pino(
    {
      level,
      base: { name, pid: process.pid },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: allow },
      // pino's default serializer would serialize the described error again and rename its type.
      serializers: { err: (described: unknown) => described },
      hooks: { streamWrite: redact },
    },
    stream ?? destination({ dest: 2, sync: true }),
  );
  // pino does not format the bindings of child loggers. Children inherit this method from their prototype.
  type Child = (this: Logger, bindings: object, options?: object) => Logger;
  const { child } = Object.getPrototypeOf(logger) as { child: Child };
  const allowListedChild: Child = function (bindings, options) {
    return child.call(this, allow(bindings), options);
  };
  Object.assign(logger, { child: allowListedChild });
  return logger;
}

const PINO_LEVELS: Readonly<Record<SdkLogLevel, Exclude<LogLevel, 'fatal' | 'silent'>>> = {
  TRACE: 'trace',
  DEBUG: 'debug',
  INFO: 'info',
  WARN: 'warn',
  ERROR: 'error',
};

/**
 * For `Runtime.install({ logger })`. The SDK passes whole error objects, task tokens and, at debug level, the worker's
 * options to its logger; the allow-list applies to those as well.
 */
export function temporalLogger(logger: Logger): SdkLogger {
  const log: SdkLogger['log'] = (level, message, meta) => logger[PINO_LEVELS[level]]({ ...meta }, message);
  return {
    log,
    trace: (message, meta) => log('TRACE', message, meta),
    debug: (message, meta) => log('DEBUG', message, meta),
    info: (message, meta) => log('INFO', message, meta),
    warn: (message, meta) => log('WARN', message, meta),
    error: (message, meta) => log('ERROR', message, meta),
  };
}
