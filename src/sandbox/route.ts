import type { z } from 'zod';
import { invalidRequest, notFound } from './api-error.js';
import type { Sandbox } from './context.js';
import type { KeyUse } from './idempotency.js';
import type { BusinessUnit, Environment, Payment } from './records.js';
import type { VersionRules } from './versions.js';

/** A request whose headers and credentials have been checked. */
export interface Call {
  sandbox: Sandbox;
  unit: BusinessUnit;
  env: Environment;
  rules: VersionRules;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, unknown>>;
  /** Parsed JSON, undefined where the request has no body. */
  body: unknown;
  /** Without the query. */
  path: string;
  requestId: string;
  idempotencyKey: string | undefined;
  clientIpAddress: string | undefined;
}

/** `text` is JSON that is ready to send: a stored answer, or one that was stored. */
export type Answer = { status: number; body: unknown } | { status: number; text: string };

/** One operation of the service. Handlers are synchronous and run inside one transaction of the store. */
export interface Route {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  credentials: 'private' | 'public';
  handle(call: Call): Answer;
}

/** The body by its schema, or the documented 400. The faults name fields and never values. */
export function parseBody<T>(call: Call, schema: z.ZodType<T>): T {
  const parsed = schema.safeParse(call.body);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'body'}: ${issue.message}`);
  throw invalidRequest(faults.join('; '));
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

/** The payment of the path, or one of the two documented 404s. */
export function paymentOfPath(call: Call): Payment {
  const payment = call.sandbox.store.payments.get(uuidParam(call, 'payment_id'));
  if (payment === undefined || payment.env !== call.env) throw notFound('Payment resource does not exists');
  if (payment.appId !== call.unit.appId) throw notFound('App_id that is related to the payment was not found');
  return payment;
}
