import { z } from 'zod';
import { plainFailures } from '../failures.js';
import type { FailureMap } from '../failures.js';
import { perVersion } from '../versions.js';
import type { ApiVersion, VersionRules } from '../versions.js';

/**
 * One call of the payment service. Both sides are in the shape of the newest API version; `wire-body.ts`
 * carries bodies over to and from the others.
 */
export interface Operation<Path extends string, Request, Answer> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Each `{name}` is a UUID, or the id of a customer; in a query it is any text. */
  readonly path: Path;
  /** The first API version that has it. */
  readonly since: ApiVersion;
  /** `public`: sent with the public key and without the private one. */
  readonly credentials: 'private' | 'public';
  /** Takes an `idempotency-key`. */
  readonly keyed: boolean;
  /** May be repeated without a key: it changes nothing, or the same again. */
  readonly idempotent: boolean;
  /** Takes `x-client-ip-address`. */
  readonly takesClientIp: boolean;
  /** Pays with its payment method, whose token and CVV API version 1.0.0 has at the root of the body. */
  readonly pays: boolean;
  /** Takes `expand` in its query. */
  readonly takesExpand: boolean;
  /** Checks a request before it is sent; undefined where there is no body. */
  readonly request: ((version: ApiVersion) => z.ZodType<unknown, Request>) | undefined;
  readonly response: z.ZodType<Answer>;
  /** Which field of the answer must equal which parameter: an answer about something else is no answer. */
  readonly answersAbout: { readonly field: string; readonly parameter: PathParameter<Path> } | undefined;
  /** What each documented status outside 2xx means. */
  readonly failures: (version: ApiVersion) => FailureMap;
}

/** Names in braces of a path template. */
export type PathParameter<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParameter<Rest>
  : never;

type Row<Path extends string, Request, Answer> = Pick<
  Operation<Path, Request, Answer>,
  'method' | 'path' | 'response'
> &
  Partial<Omit<Operation<Path, Request, Answer>, 'failures'>> & { failures?: (rules: VersionRules) => FailureMap };

/** Success without a body. */
const nothing: z.ZodType<undefined> = z.undefined();

export function operation<const Path extends string, Request, Answer>(
  row: Row<Path, Request, Answer>,
): Operation<Path, Request, Answer> {
  return {
    since: '1.0.0',
    credentials: 'private',
    keyed: row.method === 'POST',
    idempotent: row.method !== 'POST',
    takesClientIp: false,
    pays: true,
    takesExpand: false,
    request: undefined,
    answersAbout: undefined,
    ...row,
    failures: perVersion(row.failures ?? plainFailures),
  };
}

type Options<Path extends string, Answer> = Partial<Pick<Operation<Path, never, Answer>, 'since' | 'takesExpand'>>;

/** A GET of one resource, whose answer must have the `field` (the id, if nothing is said) that was asked for. */
export function read<const Path extends string, Answer>(
  path: Path,
  parameter: PathParameter<Path>,
  response: z.ZodType<Answer>,
  { field = 'id', ...options }: Options<Path, Answer> & { field?: string } = {},
): Operation<Path, never, Answer> {
  return operation<Path, never, Answer>({
    method: 'GET',
    path,
    response,
    answersAbout: { field, parameter },
    ...options,
  });
}

/** A GET of a whole collection. */
export function list<const Path extends string, Answer>(
  path: Path,
  response: z.ZodType<Answer>,
  options: Options<Path, Answer> = {},
): Operation<Path, never, Answer> {
  return operation<Path, never, Answer>({ method: 'GET', path, response, ...options });
}

export function remove<const Path extends string>(
  path: Path,
  options: Options<Path, undefined> = {},
): Operation<Path, never, undefined> {
  return operation<Path, never, undefined>({ method: 'DELETE', path, response: nothing, ...options });
}
