import type { z } from 'zod';
import { faultsOf, uuidSchema } from '../../contract/fields.js';
import { type FailureMap, failureTypeOfStatus, kindOfFault, ProviderError, wordsOfFault } from './errors.js';
import { excerptOf, redactor } from '../redact.js';
import type { Exchange, RawAnswer } from './transport.js';
import type { ApiVersion } from '../versions.js';
import { decodeBody } from '../wire.js';

/** A successful answer: the status is 2xx and the body fits the schema. */
export interface ProviderAnswer<T> {
  data: T;
  httpStatus: number;
  /** The service's id of this request, for its support. */
  requestId?: string;
}

/** Data needed to read the answer to one call. */
interface AnswerContext<T> {
  operation: string;
  origin: string;
  version: ApiVersion;
  schema: z.ZodType<T>;
  /** A successful answer is a 204 or has no body: what has one may be the page of a proxy, or an error. */
  bodyless: boolean;
  failures: FailureMap;
  /** A field that the answer must have, and its value. UUIDs are compared without case. */
  about: { field: string; value: string } | undefined;
  /** Currency of the amounts if the answer names none (API version 1.0.0). */
  currency: string | undefined;
  /** Must never appear in an error text. */
  secrets: readonly (string | undefined)[];
}

/**
 * Converts the result of an HTTP request into an answer.
 * @throws ProviderError of kind `refused`, `lost`, `timeout`, `http` or `unexpected`
 */
export function readAnswer<T>(result: Exchange, context: AnswerContext<T>): ProviderAnswer<T> {
  const { answer } = result;
  const succeeded = answer !== undefined && answer.status >= 200 && answer.status < 300;
  // A status outside 2xx counts even if the body is incomplete.
  if (answer !== undefined && !succeeded) throw httpError(answer, context);
  if (answer === undefined || result.fault !== undefined) throw transportError(result, context);
  const requestId = requestIdOf(answer);
  return {
    data: decode(answer, context),
    httpStatus: answer.status,
    ...(requestId === undefined ? {} : { requestId }),
  };
}

function decode<T>(answer: RawAnswer, context: AnswerContext<T>): T {
  const text = answer.body.toString('utf8');
  let faults: string[];
  try {
    const hasNone = context.bodyless && (answer.status === 204 || text === '');
    const body = hasNone ? undefined : decodeBody(text, context.version, context.currency);
    const parsed = context.schema.safeParse(body);
    if (parsed.success) {
      const { about } = context;
      if (about === undefined || isAbout(parsed.data, about)) return parsed.data;
      faults = [`${about.field}: is not the one that was asked for`];
    } else {
      faults = faultsOf(parsed.error).map((fault) => fault.replace(/^input: /, 'body: '));
    }
  } catch {
    faults = ['body: is not JSON'];
  }
  const clean = redactor(context.secrets);
  throw new ProviderError(
    `${context.operation}: the answer with status ${answer.status} does not fit: ${clean(faults.join('; '))}${idNote(answer)}`,
    {
      kind: 'unexpected',
      operation: context.operation,
      mayHaveLeft: true,
      httpStatus: answer.status,
      requestId: requestIdOf(answer),
      faults: faults.map(clean),
      excerpt: clean(excerptOf(text)),
    },
  );
}

function transportError(result: Exchange, context: AnswerContext<unknown>): ProviderError {
  const code = result.fault ?? 'UNKNOWN';
  const kind = kindOfFault(code, result.sendingBegan);
  const left = result.sendingBegan ? 'the request may have reached the service' : 'nothing was sent';
  const requestId = result.answer === undefined ? undefined : requestIdOf(result.answer);
  return new ProviderError(
    `${context.operation} at ${context.origin}: ${wordsOfFault(code)} (${code}); ${left}${noteOf(requestId)}`,
    {
      kind,
      operation: context.operation,
      mayHaveLeft: result.sendingBegan,
      code,
      httpStatus: result.answer?.status,
      requestId,
    },
  );
}

function httpError(answer: RawAnswer, context: AnswerContext<unknown>): ProviderError {
  const clean = redactor(context.secrets);
  const body = errorBodyOf(answer.body);
  const text = (field: string): string | undefined => {
    const value = body[field];
    return typeof value === 'string' && value !== '' ? clean(value) : undefined;
  };
  const category = text('category');
  const description = text('description');
  const moreInfo = text('more_info');
  const says = [category === undefined ? undefined : `${category}:`, description, moreInfo]
    .filter((part) => part !== undefined)
    .join(' ');
  return new ProviderError(
    `${context.operation}: the service answered ${answer.status}${says === '' ? '' : ` ${says}`}${idNote(answer)}`,
    {
      kind: 'http',
      operation: context.operation,
      mayHaveLeft: true,
      failureType: failureTypeOfStatus(answer.status, context.failures),
      httpStatus: answer.status,
      requestId: requestIdOf(answer),
      category,
      description,
      moreInfo,
      retryAfterMs: retryAfterMs(header(answer, 'retry-after'), header(answer, 'date'), Date.now()),
    },
  );
}

function errorBodyOf(body: Buffer): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(body.toString('utf8'));
    return typeof parsed === 'object' && parsed !== null ? (parsed as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function header(answer: RawAnswer, name: string): string | undefined {
  const value = answer.headers[name];
  return Array.isArray(value) ? value[0] : value;
}

/** Shortened and reduced to visible ASCII, because it is written to logs and histories. */
function requestIdOf(answer: RawAnswer): string | undefined {
  const value = header(answer, 'x-svc-request-id')
    ?.replace(/[^\x21-\x7e]/g, '')
    .slice(0, 128);
  return value === undefined || value === '' ? undefined : value;
}

function idNote(answer: RawAnswer): string {
  return noteOf(requestIdOf(answer));
}

function noteOf(requestId: string | undefined): string {
  return requestId === undefined ? '' : ` [request ${requestId}]`;
}

/** Whether the answer is about the requested resource. An empty answer is accepted as "not found". */
function isAbout(data: unknown, about: { field: string; value: string }): boolean {
  if (data === undefined) return true;
  if (typeof data !== 'object' || data === null) return false;
  const value = (data as Record<string, unknown>)[about.field];
  if (typeof value !== 'string') return false;
  return value === about.value || (isUuid(value) && value.toLowerCase() === about.value.toLowerCase());
}

function isUuid(text: string): boolean {
  return uuidSchema.safeParse(text).success;
}

const LONGEST_RETRY_AFTER_MS = 3_600_000;

/**
 * ms to wait according to `Retry-After`, which is a number of seconds or an HTTP date (RFC 9110, 10.2.3).
 * A date is compared with the answer's own `Date`, so that a difference between the clocks has no effect.
 * undefined when the header is missing or unreadable; 0 for a time in the past; an hour for anything longer: nobody could
 * say until then what has become of the call.
 */
export function retryAfterMs(header: string | undefined, date: string | undefined, now: number): number | undefined {
  const value = header?.trim();
  if (value === undefined || value === '') return undefined;
  if (/^\d{1,10}$/.test(value)) return Math.min(Number(value) * 1000, LONGEST_RETRY_AFTER_MS);
  const until = httpDate(value);
  if (until === undefined) return undefined;
  const wait = until - ((date === undefined ? undefined : httpDate(date)) ?? now);
  return Math.min(Math.max(0, wait), LONGEST_RETRY_AFTER_MS);
}

/** Accepts only text that looks like one of the three HTTP date forms: `Date.parse` also accepts `-5`. */
function httpDate(value: string): number | undefined {
  if (!/^[A-Z][a-z]{2,8},? .*\d\d:\d\d:\d\d/.test(value)) return undefined;
  const time = Date.parse(/(GMT|UTC)$/.test(value) ? value : `${value} GMT`);
  return Number.isNaN(time) ? undefined : time;
}
