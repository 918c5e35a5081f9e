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
    'eventType eventHash eventId route who action paths keyId undecodable',
    'name pid url port host address signal setting version path file faults',
    'count durationMs delayMs sizeBytes size reason result state code days',
  ].flatMap((names) => names.split(' ')),
);
/** Fields that the SDK adds to many lines; they are dropped without being listed as omitted. */
const SILENT = new Set(['taskToken', 'options', 'error', 'err', 'workflowExists', 'timestampNanos']);

const MAX_STRING = 1000;
const MAX_ITEMS = 50;

/** The allowed fields of one line. Pass `stacks` only at debug level. */
export function allowedFields(fields: Readonly<Record<string, unknown>>, stacks = false): Record<string, unknown> {
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

export interface LoggedError {
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
