import type { z } from 'zod';
import { invalidRequest, notFound } from './api-error.js';
import type { Sandbox } from './context.js';
import type { KeyUse } from './idempotency.js';
import type { BusinessUnit, Environment, Payment } from './records.js';
import type { ApiVersion, VersionRules } from './versions.js';

/** A request whose headers and credentials have been checked. */
export interface Call {
  sandbox: Sandbox;
  unit: BusinessUnit;
  env: Environment;
  rules: VersionRules;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, unknown>>;
  /** Parsed JSON; an empty object where there is none. */
  body: unknown;
  /** Without the query. */
  path: string;
  requestId: string;
  idempotencyKey: string | undefined;
  clientIpAddress: string | undefined;
}

/** `text` is JSON that is ready to send: a stored answer, or one that was stored. */
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
  /** The first API version that has it; undefined: all have. */
  since?: ApiVersion;
  /** That it came so late was observed; the interface names no version. */
  sinceObserved?: true;
  /** The interface does not name it: what a unit answers that offers nothing else. */
  unnamed?: 404 | 405 | 501;
  /** What a body has to look like; undefined: the operation takes none. */
  request?: (rules: VersionRules) => z.ZodType;
  /** The body may be left out. */
  bodyOptional?: boolean;
  /** Query parameters and the values they take; undefined: any text. */
  query?: Readonly<Record<string, readonly string[] | undefined>>;
  /** Answers for a provider that can't be reached as the version has it. */
  asksProvider?: boolean;
  /** Status of its success. */
  success: 200 | 201 | 204;
  handle(call: Call): Answer;
}

/** The body by its schema, or the documented 400. The faults name fields and never values. */
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

/** A UUID from the path; anything else is a 400, as with the service. */
export function uuidParam(call: Call, name: string): string {
  const value = call.params[name] ?? '';
  if (!/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(value)) throw invalidRequest(`${name} is not a UUID`);
  return value.toLowerCase();
}

/** The payment of the path, or one of the two documented 404s. Under risk analyses the first is without `more_info`. */
export function paymentOfPath(call: Call, missing: 'named' | 'unnamed' = 'named'): Payment {
  const payment = call.sandbox.store.payments.get(uuidParam(call, 'payment_id'));
  if (payment === undefined || payment.env !== call.env) {
    throw notFound(missing === 'named' ? 'Payment resource does not exists' : undefined);
  }
  if (payment.appId !== call.unit.appId) throw notFound('App_id that is related to the payment was not found');
  return payment;
}
