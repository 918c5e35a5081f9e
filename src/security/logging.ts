import type { Logger as SdkLogger, LogLevel as SdkLogLevel } from '@temporalio/common';
import { destination, pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';
import { starCardData } from '../contract/card-data.js';

export type { Logger } from 'pino';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

interface LoggerOptions {
  /** Name of the process: worker, webhook, codec... */
  name: string;
  level?: LogLevel;
  /** Masked with stars anywhere in a line. */
  secrets?: readonly string[];
  /** Default: standard error, written synchronously so that the last line before an exit is not lost. */
  stream?: DestinationStream;
}

/**
 * A pino logger that writes JSON lines with allow-listed fields only. Usage:
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

/** What the SDK warns of a worker of activities alone: that of the notifications has no workflows. */
const ON_PURPOSE = 'No workflows registered';

/**
 * For `Runtime.install({ logger })`. The SDK passes whole error objects, task tokens and, at debug level, the worker's
 * options to its logger; the allow-list applies to those as well.
 */
export function temporalLogger(logger: Logger): SdkLogger {
  const log: SdkLogger['log'] = (level, message, meta) =>
    logger[PINO_LEVELS[message.startsWith(ON_PURPOSE) ? 'DEBUG' : level]]({ ...meta }, message);
  return {
    log,
    trace: (message, meta) => log('TRACE', message, meta),
    debug: (message, meta) => log('DEBUG', message, meta),
    info: (message, meta) => log('INFO', message, meta),
    warn: (message, meta) => log('WARN', message, meta),
    error: (message, meta) => log('ERROR', message, meta),
  };
}

/**
 * The only fields that are logged; the names of all others are listed under `omitted`. Add a field only if none of its
 * values can contain card data, personal data or a secret.
 */
const ALLOWED: ReadonlySet<string> = new Set(
  [
    'reference workflowId runId workflowType activityId activityType attempt taskQueue namespace sdkComponent isLocal',
    'target scheduleId updateId updateName signalName queryName',
    'paymentId transactionId businessUnit appId operation amount currency status category subCategory requestId',
    'httpStatus knownBy waitingFor apiVersion environment',
    'eventType eventHash eventId route who action paths keyId undecodable encryptedFor',
    'name pid url port host address signal setting version path file faults',
    'count durationMs delayMs sizeBytes size reason result state code days',
  ].flatMap((names) => names.split(' ')),
);
/** Fields that the SDK adds to many lines; they are dropped without being listed as omitted. */
const SILENT = new Set(['taskToken', 'options', 'error', 'err', 'workflowExists', 'timestampNanos']);

const MAX_STRING = 1000;
const MAX_ITEMS = 50;

/** The allowed fields of one line. Pass `stacks` only at debug level. */
function allowedFields(fields: Readonly<Record<string, unknown>>, stacks = false): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  const omitted: string[] = [];
  for (const [name, value] of Object.entries(fields)) {
    const plain = ALLOWED.has(name) ? plainValue(value) : undefined;
    if (plain !== undefined) kept[name] = plain;
    else if (!SILENT.has(name) && value !== undefined) omitted.push(name.slice(0, 40));
  }
  const error = fields['err'] ?? fields['error'];
  if (error !== undefined && error !== null) kept['err'] = describeError(error, stacks);
  if (omitted.length > 0) kept['omitted'] = omitted.slice(0, MAX_ITEMS);
  return kept;
}

/** Objects are not logged: to log a field of an object, pass that field. */
function plainValue(value: unknown): unknown {
  if (typeof value === 'string') return cut(value);
  if (typeof value === 'number' || typeof value === 'boolean') return value;
  if (typeof value === 'bigint') return value.toString();
  if (!Array.isArray(value)) return undefined;
  const items = value.map(plainValue);
  return items.includes(undefined) ? undefined : items.slice(0, MAX_ITEMS);
}

interface LoggedError {
  type: string;
  message: string;
  code?: string;
  /** Up to five causes, outermost first. */
  causes?: Omit<LoggedError, 'causes'>[];
  stack?: string;
}

/** Type, message and code of an error and its causes. Other properties may contain whole requests. */
export function describeError(error: unknown, stacks = false): LoggedError {
  const causes: LoggedError[] = [];
  let cause = causeOf(error);
  while (cause !== undefined && cause !== null && causes.length < 5) {
    causes.push(describeOne(cause));
    cause = causeOf(cause);
  }
  return {
    ...describeOne(error),
    ...(causes.length > 0 ? { causes } : {}),
    ...(stacks ? stackOf(error) : {}),
  };
}

function describeOne(error: unknown): LoggedError {
  if (typeof error !== 'object' || error === null) return { type: typeof error, message: cut(String(error)) };
  const { name, type, message, code } = error as Record<string, unknown>;
  const label = typeof type === 'string' && type !== '' ? type : name;
  return {
    type: typeof label === 'string' ? cut(label) : 'Error',
    message: typeof message === 'string' ? cut(message) : '(no message)',
    ...(typeof code === 'string' || typeof code === 'number' ? { code: String(code) } : {}),
  };
}

function causeOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'cause' in error ? error.cause : undefined;
}

function stackOf(error: unknown): { stack?: string } {
  const stack = typeof error === 'object' && error !== null && 'stack' in error ? error.stack : undefined;
  return typeof stack === 'string' ? { stack: stack.slice(0, 8000) } : {};
}

function cut(text: string): string {
  return text.length > MAX_STRING ? `${text.slice(0, MAX_STRING)}... (${text.length} characters)` : text;
}

type Redactor = (text: string) => string;

/**
 * Masks card numbers and the given secrets in any text, as the last check before a log line leaves the process. The
 * allow-list above decides which fields may be logged.
 * Secrets under 6 characters are not masked: that would also mask ordinary words.
 */
export function createRedactor(secrets: readonly string[] = []): Redactor {
  // A log line is JSON, so quotes and backslashes of a secret are escaped in it.
  const needles = secrets
    .filter((secret) => secret.length >= 6)
    .flatMap((secret) => [secret, JSON.stringify(secret).slice(1, -1)])
    .sort((a, b) => b.length - a.length);
  return (text) => starCardData(needles.reduce((rest, needle) => rest.replaceAll(needle, '[secret]'), text));
}
