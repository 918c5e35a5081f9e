import { createHash } from 'node:crypto';
import { legacyAppId, readPointer, type LegacyPointer } from './legacy.js';
import { saysDisputed } from './says-disputed.js';
import { signedValues } from './signature.js';

export interface WebhookRequest {
  /** Header names are lower-case, as in Node. */
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The unparsed body. */
  rawBody: Buffer;
  /** Address of the sender behind the trusted proxies. Required with `allowedSenders`. */
  sender?: string;
}

/** Why a request was rejected. */
export type Rejection =
  | 'tooLarge'
  | 'unreadable'
  | 'shape'
  | 'headers'
  | 'version'
  | 'address'
  | 'sender'
  | 'noSignature'
  | 'environment'
  | 'unknownApp'
  | 'badSignature'
  | 'badDigest'
  | 'legacyRefused';

/** HTTP status of each. */
export const REJECTION_STATUS: Readonly<Record<Rejection, 400 | 401 | 413>> = {
  tooLarge: 413,
  unreadable: 400,
  shape: 400,
  headers: 400,
  version: 400,
  address: 400,
  sender: 401,
  noSignature: 401,
  environment: 401,
  unknownApp: 401,
  badSignature: 401,
  badDigest: 401,
  legacyRefused: 401,
};

interface AnyRequest {
  version: string;
  environment: string;
  appId: string;
  /** Id of the call that caused the event. Not signed, so use it only in logs. */
  requestId?: string;
}

/** Webhook version 1.2.0 and later. */
export interface SignedRequest extends AnyRequest {
  generation: 'signed';
  signature: string;
  /** The 14 signed values, event type first. */
  values: string[];
  /** Its body says that the payment is charged back. Not signed: the service is asked. */
  disputed?: true;
}

/** Webhook version 1.0.1 and older. */
export interface LegacyRequest extends AnyRequest {
  generation: 'legacy';
  /** SHA-256 (hex) of the unparsed body. */
  bodyHash: string;
  digest: string;
  /** The fault is reported only to a sender that passed every other check. */
  pointer: LegacyPointer | { fault: string };
}

export type ReadRequest = SignedRequest | LegacyRequest;
export type ReadResult = { ok: true; request: ReadRequest } | { ok: false; rejection: Rejection; message: string };

/** Bytes. A complete transaction has a few kilobytes. */
export const MAX_BODY_BYTES = 1024 * 1024;
/** A complete transaction nests six levels deep. */
const MAX_DEPTH = 64;
const MAX_EVENT_TYPE_LENGTH = 128;

/** Reads a request without verifying it. Accepts UTF-8 JSON objects of both generations. */
export function readRequest({ headers, rawBody }: WebhookRequest): ReadResult {
  if (rawBody.length > MAX_BODY_BYTES) return refuse('tooLarge', `the body is over ${MAX_BODY_BYTES} bytes`);
  const body = parseBody(rawBody);
  if (body === undefined) return refuse('unreadable', 'the body is no JSON object in UTF-8 of sane depth');

  const version = header(headers, 'version');
  const signature = header(headers, 'signature');
  const generation = version === undefined ? undefined : generationOf(version, body);
  if (generation !== 'legacy' && signature === undefined) return refuse('noSignature', 'no signature');

  const environment = header(headers, 'x-svc-env');
  if (version === undefined || environment === undefined) return refuse('headers', NEEDED_HEADERS);
  if (generation === undefined) {
    return refuse(
      'version',
      'this webhook version is not understood: it must be numbers with dots between, such as 1.3.0',
    );
  }
  if (generation !== shapeOf(body)) {
    return refuse('version', `the body does not fit webhook version ${generation === 'legacy' ? '1.0.x' : '1.2.0'}`);
  }
  const requestId = header(headers, 'x-svc-request-id')?.slice(0, 128);
  const common = { version, environment, ...(requestId !== undefined && { requestId }) };
  return generation === 'legacy'
    ? readLegacy(common, headers, body, rawBody)
    : readSigned({ ...common, signature: signature ?? '' }, headers, body);
}

const NEEDED_HEADERS = 'the headers event-type, version and x-svc-env are all needed, once each';

function readSigned(
  common: Omit<SignedRequest, 'generation' | 'appId' | 'values'>,
  headers: WebhookRequest['headers'],
  body: Record<string, unknown>,
): ReadResult {
  const eventType = header(headers, 'event-type');
  if (eventType === undefined) return refuse('headers', NEEDED_HEADERS);
  if (eventType.length > MAX_EVENT_TYPE_LENGTH) return refuse('headers', 'the header event-type is too long');
  const appId = body['app_id'];
  if (typeof appId !== 'string' || appId === '') return refuse('shape', 'app_id must be a string');
  try {
    const values = signedValues(eventType, body);
    const disputed = saysDisputed(eventType, body) ? { disputed: true as const } : {};
    return { ok: true, request: { ...common, generation: 'signed', appId, values, ...disputed } };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return refuse('shape', error.message);
  }
}

function readLegacy(
  common: Omit<AnyRequest, 'appId'>,
  headers: WebhookRequest['headers'],
  body: Record<string, unknown>,
  rawBody: Buffer,
): ReadResult {
  const digest = header(headers, 'digest');
  if (digest === undefined) return refuse('noSignature', 'no digest');
  const appId = legacyAppId(body);
  if (appId === undefined) return refuse('shape', 'app_id (or app-id) must be a string, the same where both are sent');
  const bodyHash = createHash('sha256').update(rawBody).digest('hex');
  const pointer = readPointer(body);
  return { ok: true, request: { ...common, generation: 'legacy', appId, bodyHash, digest, pointer } };
}

function refuse(rejection: Rejection, message: string): ReadResult {
  return { ok: false, rejection, message };
}

/** undefined when the header is absent, empty or has several values. */
function header(headers: WebhookRequest['headers'], name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/**
 * Version 1.2.0 introduced the signature and a new body. Version 1.1 is not documented, so its body decides. A later
 * version is read if it has the known fields, and accepted only with a valid signature.
 */
function generationOf(version: string, body: Record<string, unknown>): 'signed' | 'legacy' | undefined {
  const [whole, major, minor] = /^(\d{1,3})\.(\d{1,3})(?:\.\d{1,3})?$/.exec(version) ?? [];
  if (whole === undefined) return undefined;
  if (Number(major) === 0 || (Number(major) === 1 && Number(minor) === 0)) return 'legacy';
  return Number(major) === 1 && Number(minor) === 1 ? shapeOf(body) : 'signed';
}

/** A legacy body points to a resource; a signed body contains it. */
function shapeOf(body: Record<string, unknown>): 'signed' | 'legacy' {
  return Object.hasOwn(body, 'resource') && !Object.hasOwn(body, 'data') ? 'legacy' : 'signed';
}

/** Fatal, because with replacement characters two different bodies could decode to the same text. */
const UTF_8 = new TextDecoder('utf-8', { fatal: true });

function parseBody(rawBody: Buffer): Record<string, unknown> | undefined {
  try {
    const text = UTF_8.decode(rawBody);
    if (mayNestDeeperThan(text, MAX_DEPTH) && nestsDeeperThan(text, MAX_DEPTH)) return undefined;
    const body: unknown = JSON.parse(text);
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
    return body as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** Nothing nests deeper than it has opening brackets, and nearly every body has few. */
function mayNestDeeperThan(json: string, limit: number): boolean {
  let opened = 0;
  for (const bracket of ['{', '['])
    for (let at = json.indexOf(bracket); at >= 0 && opened <= limit; at = json.indexOf(bracket, at + 1)) opened += 1;
  return opened > limit;
}

const [QUOTE, BACKSLASH] = [34, 92];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET] = [123, 125, 91, 93];

/** Runs before parsing, so that no code recurses into deep nesting. Compares char codes because it reads every byte. */
function nestsDeeperThan(json: string, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index);
    if (inString) {
      if (code === BACKSLASH) index += 1;
      else if (code === QUOTE) inString = false;
    } else if (code === QUOTE) inString = true;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) {
      depth += 1;
      if (depth > limit) return true;
    } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth -= 1;
  }
  return false;
}
