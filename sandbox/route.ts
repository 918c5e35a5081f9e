import type { z } from 'zod';
import { invalidRequest, notFound } from './api-error.js';
import type { Sandbox } from './context.js';
import type { KeyUse } from './idempotency.js';
import type { BusinessUnit, Environment, Payment } from './records.js';
import type { ApiVersion, VersionRules } from './versions.js';
import { parseWithNumbers } from './wire-fields.js';

/** A request whose headers and credentials have been checked. */
export interface Call {
  sandbox: Sandbox;
  unit: BusinessUnit;
  env: Environment;
  rules: VersionRules;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, unknown>>;
  /** Parsed JSON; an empty object without a body. */
  body: unknown;
  /** Without the query. */
  path: string;
  requestId: string;
  idempotencyKey: string | undefined;
  clientIpAddress: string | undefined;
}

/** `text` is JSON that is ready to send: a stored answer, or one that was just stored. */
export type Answer = ({ body: unknown } | { text: string }) & {
  status: number;
  headers?: Readonly<Record<string, string>>;
};

/** One operation of the service. Handlers are synchronous and run inside one transaction of the store. */
export interface Route {
  /** Its name in the OpenAPI description. */
  operation: string;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  credentials: 'private' | 'public';
  /** Shop pages call it from a buyer's browser, whatever their origin. */
  fromBrowsers?: true;
  /** First API version that has it; undefined: all have it. */
  since?: ApiVersion;
  /** `since` was observed; the interface description names no version. */
  sinceObserved?: true;
  /** Not in the interface description: status that a unit with `offers: 'interface'` answers. */
  unnamed?: 404 | 405 | 501;
  /** Schema of the body; undefined: the operation takes none. */
  request?: (rules: VersionRules) => z.ZodType;
  /** The body may be left out. */
  bodyOptional?: boolean;
  /** Query parameters and their allowed values; undefined: any text. */
  query?: Readonly<Record<string, readonly string[] | undefined>>;
  /** The status for an unreachable provider depends on the API version. */
  asksProvider?: boolean;
  /** Status of its success. */
  success: 200 | 201 | 204;
  handle(call: Call): Answer;
}

/** Parses the body by its schema. Throws the documented 400, whose faults name fields and never values. */
export function parseBody<T>(call: Call, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(call.body);
  if (parsed.success) return parsed.data;
  throw invalidRequest(parsed.error.issues.map(sentence).join('; '));
}

function sentence(issue: z.core.$ZodIssue): string {
  const place = issue.path.join('.') || 'body';
  return `${place.slice(0, 200)}: ${issue.message.slice(0, 200)}`;
}

export function keyUse(call: Call, detail?: string): KeyUse {
  const { unit, env, path, idempotencyKey: key } = call;
  return { unit, env, path, key, ...(detail === undefined ? {} : { detail }) };
}

/** Returns a UUID of the path. Throws a 400 for anything else, like the service. */
export function uuidParam(call: Call, name: string): string {
  const value = call.params[name] ?? '';
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value)) throw invalidRequest(`${name} is not a UUID`);
  return value.toLowerCase();
}

/** Returns the payment of the path. Throws one of two documented 404s; risk analyses omit `more_info` in the first. */
export function paymentOfPath(call: Call, missing: 'named' | 'unnamed' = 'named'): Payment {
  const payment = call.sandbox.store.payments.get(uuidParam(call, 'payment_id'));
  if (payment === undefined || payment.env !== call.env) {
    throw notFound(missing === 'named' ? 'Payment resource does not exists' : undefined);
  }
  if (payment.appId !== call.unit.appId) throw notFound('App_id that is related to the payment was not found');
  return payment;
}

/** Deeper JSON is refused: it could exhaust the stack. */
const DEEPEST = 64;

/**
 * Parses a raw body as JSON; undefined if it is none (no valid document is undefined). Numbers under the named keys
 * become `WireNumber`.
 */
export function parseJson(body: unknown, exactKeys: readonly string[] = []): unknown {
  if (!Buffer.isBuffer(body)) return undefined;
  try {
    const text = body.toString('utf8');
    const value: unknown = JSON.parse(text);
    if (!isShallow(value, DEEPEST)) return undefined;
    return exactKeys.length === 0 ? value : parseWithNumbers(text, exactKeys);
  } catch {
    return undefined;
  }
}

export function isEmptyBody(body: unknown): boolean {
  return body === undefined || body === null || (Buffer.isBuffer(body) && body.length === 0);
}

function isShallow(value: unknown, left: number): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return left > 0 && Object.values(value).every((inner) => isShallow(inner, left - 1));
}
