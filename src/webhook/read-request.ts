import { signedValues } from './signature.js';

export interface WebhookRequest {
  /** Lower-case names, as Node gives them. */
  headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The body as it came off the wire. */
  rawBody: Buffer;
}

/** Why a request went no further. The first five answer 413 or 400, the others 401, all alike. */
export type Rejection =
  | 'tooLarge'
  | 'unreadable'
  | 'shape'
  | 'headers'
  | 'version'
  | 'noSignature'
  | 'environment'
  | 'unknownApp'
  | 'badSignature';

export interface ReadRequest {
  signature: string;
  version: string;
  environment: string;
  appId: string;
  /** The 14 signed values, event type first. */
  values: string[];
  /** Names the call that caused the event. Not signed: good for a log line and nothing else. */
  requestId?: string;
}

export type ReadResult = { ok: true; request: ReadRequest } | { ok: false; rejection: Rejection; message: string };

/** In bytes. A full transaction takes a few kilobytes. */
export const MAX_BODY_BYTES = 1024 * 1024;
/** A full transaction nests six levels deep. */
const MAX_DEPTH = 64;
const MAX_EVENT_TYPE_LENGTH = 128;

/** Reads what can be read without any key. Takes bodies that are an object in UTF-8 JSON, of webhook version 1.2.0 on. */
export function readRequest({ headers, rawBody }: WebhookRequest): ReadResult {
  if (rawBody.length > MAX_BODY_BYTES) return refuse('tooLarge', `the body is over ${MAX_BODY_BYTES} bytes`);
  const body = parseBody(rawBody);
  if (body === undefined) return refuse('unreadable', 'the body is no JSON object in UTF-8 of sane depth');

  const signature = header(headers, 'signature');
  if (signature === undefined) return refuse('noSignature', 'no signature');

  const eventType = header(headers, 'event-type');
  const version = header(headers, 'version');
  const environment = header(headers, 'x-svc-env');
  if (eventType === undefined || version === undefined || environment === undefined) {
    return refuse('headers', 'the headers event-type, version and x-svc-env are all needed, once each');
  }
  if (eventType.length > MAX_EVENT_TYPE_LENGTH) return refuse('headers', 'the header event-type is too long');
  if (!isUnderstood(version)) return refuse('version', 'this webhook version is not understood: use 1.2.0 or later');

  const appId = body['app_id'];
  if (typeof appId !== 'string' || appId === '') return refuse('shape', 'app_id must be a string');
  let values: string[];
  try {
    values = signedValues(eventType, body);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return refuse('shape', error.message);
  }
  const requestId = header(headers, 'x-svc-request-id');
  const read = { signature, version, environment, appId, values };
  return { ok: true, request: requestId === undefined ? read : { ...read, requestId: requestId.slice(0, 128) } };
}

function refuse(rejection: Rejection, message: string): ReadResult {
  return { ok: false, rejection, message };
}

/** Undefined when the header is absent, empty or was sent as several values. */
function header(headers: WebhookRequest['headers'], name: string): string | undefined {
  const value = headers[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** 1.2.0 brought the signature and this shape of the body; a 2.x may change both. */
function isUnderstood(version: string): boolean {
  const minor = /^1\.(\d{1,3})\.\d{1,3}$/.exec(version)?.[1];
  return minor !== undefined && Number(minor) >= 2;
}

function parseBody(rawBody: Buffer): Record<string, unknown> | undefined {
  try {
    // Fatal: replacement characters would make two different bodies read alike.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(rawBody);
    if (nestsDeeperThan(text, MAX_DEPTH)) return undefined;
    const body: unknown = JSON.parse(text);
    if (typeof body !== 'object' || body === null || Array.isArray(body)) return undefined;
    return body as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

/** Before parsing, so that no parser and nothing after it ever walks a tower of brackets. */
function nestsDeeperThan(json: string, limit: number): boolean {
  let depth = 0;
  let inString = false;
  for (let index = 0; index < json.length; index += 1) {
    const character = json[index];
    if (inString) {
      if (character === '\\') index += 1;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') {
      depth += 1;
      if (depth > limit) return true;
    } else if (character === '}' || character === ']') depth -= 1;
  }
  return false;
}
