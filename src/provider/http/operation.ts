import { z } from 'zod';
import type { CallOptions, GetPaymentOptions, PostOptions, TransactionOptions } from '../options.js';
import { type ApiVersion, perVersion, type VersionRules } from '../versions.js';
import type { ProviderAnswer } from './answers.js';
import { type FailureMap, plainFailures } from './errors.js';

/**
 * One call of the payment service, which is one method of the client. Request and answer have the shape of the newest
 * API version; `wire.ts` converts bodies to and from other versions.
 */
export interface Operation<Path extends string, Request, Answer, Options = CallOptions> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** In the path, each `{name}` is a UUID or a customer id; in the query, it is any text. */
  readonly path: Path;
  /** The first API version that has this operation. */
  readonly since: ApiVersion;
  /** `public`: sent with the public key instead of the private key. */
  readonly credentials: 'private' | 'public';
  /** Accepts an `idempotency-key`. */
  readonly keyed: boolean;
  /** May be repeated without a key: a repeat has no further effect. */
  readonly idempotent: boolean;
  /** Accepts `x-client-ip-address`. */
  readonly takesClientIp: boolean;
  /** Pays with its payment method. API version 1.0.0 has its token and CVV at the root of the body. */
  readonly pays: boolean;
  /** Accepts `expand` in its query. */
  readonly takesExpand: boolean;
  /** Schema that validates a request before sending; undefined if the operation has no body. */
  readonly request: ((version: ApiVersion) => z.ZodType<unknown, Request>) | undefined;
  readonly response: z.ZodType<Answer>;
  /** The answer's field that must equal a parameter: an answer about another resource is refused. */
  readonly answersAbout: { readonly field: string; readonly parameter: string } | undefined;
  /** Meaning of each documented status outside 2xx. */
  readonly failures: (version: ApiVersion) => FailureMap;
  /** Exists only for its type: the options of the method. */
  readonly options?: Options;
}

/** Parameter names of a path template. */
type PathParameter<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParameter<Rest>
  : never;

/** The parameter names of a path, in order. */
export function parametersOf(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

type Details<Path extends string, Request, Answer> = Pick<Operation<Path, Request, Answer>, 'response'> &
  Partial<Omit<Operation<Path, Request, Answer>, 'method' | 'path' | 'answersAbout' | 'failures' | 'options'>> & {
    answersAbout?: { readonly field: string; readonly parameter: PathParameter<Path> };
    failures?: (rules: VersionRules) => FailureMap;
  };

function operation<Path extends string, Request, Answer, Options>(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: Path,
  { failures = plainFailures, ...details }: Details<Path, Request, Answer>,
): Operation<Path, Request, Answer, Options> {
  return {
    method,
    path,
    since: '1.0.0',
    credentials: 'private',
    keyed: method === 'POST',
    idempotent: method !== 'POST',
    takesClientIp: false,
    pays: true,
    takesExpand: false,
    request: undefined,
    answersAbout: undefined,
    ...details,
    failures: perVersion(failures),
  };
}

export function post<const Path extends string, Answer, Request = never>(
  path: Path,
  details: Details<Path, Request, Answer>,
): Operation<Path, Request, Answer, PostOptions> {
  return operation('POST', path, details);
}

/** A POST for a buyer, with the buyer's IP address. */
export function postForBuyer<const Path extends string, Answer, Request = never>(
  path: Path,
  details: Details<Path, Request, Answer>,
): Operation<Path, Request, Answer, TransactionOptions> {
  return operation('POST', path, { takesClientIp: true, ...details });
}

/** A PUT that replaces the whole resource. */
export function put<const Path extends string, Answer, Request = never>(
  path: Path,
  parameter: PathParameter<Path>,
  details: Details<Path, Request, Answer>,
): Operation<Path, Request, Answer> {
  return operation('PUT', path, { answersAbout: { field: 'id', parameter }, ...details });
}

interface ReadDetails {
  /** The answer's field that must equal the parameter. Default `id`. */
  field?: string;
  since?: ApiVersion;
}

/** A GET of one resource. */
export function read<const Path extends string, Answer>(
  path: Path,
  parameter: PathParameter<Path>,
  response: z.ZodType<Answer>,
  { field = 'id', ...details }: ReadDetails = {},
): Operation<Path, never, Answer> {
  return operation('GET', path, { response, answersAbout: { field, parameter }, ...details });
}

/** A GET of one resource, with the related resources that `expand` names. */
export function readExpandable<const Path extends string, Answer>(
  path: Path,
  parameter: PathParameter<Path>,
  response: z.ZodType<Answer>,
): Operation<Path, never, Answer, GetPaymentOptions> {
  return operation('GET', path, { response, answersAbout: { field: 'id', parameter }, takesExpand: true });
}

/** A GET of a whole collection. It is strict: a silently dropped entry would look as if it never existed. */
export function list<const Path extends string, Answer>(
  path: Path,
  entry: z.ZodType<Answer>,
  details: { since?: ApiVersion } = {},
): Operation<Path, never, Answer[]> {
  return operation('GET', path, { response: z.array(entry), ...details });
}

export function remove<const Path extends string>(
  path: Path,
  details: { since?: ApiVersion } = {},
): Operation<Path, never, undefined> {
  return operation('DELETE', path, { response: z.undefined(), ...details });
}

/** Labelled tuples, so that method signatures show the name of each parameter. */
interface NamedArguments {
  paymentId: [paymentId: string];
  authorizationId: [authorizationId: string];
  chargeId: [chargeId: string];
  captureId: [captureId: string];
  refundId: [refundId: string];
  voidId: [voidId: string];
  creditId: [creditId: string];
  riskAnalysisId: [riskAnalysisId: string];
  redirectionId: [redirectionId: string];
  customerId: [customerId: string];
  customerReference: [customerReference: string];
  token: [token: string];
}

type PathArguments<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? [...(Name extends keyof NamedArguments ? NamedArguments[Name] : [string]), ...PathArguments<Rest>]
  : [];

type RequestArgument<Request> = [Request] extends [never]
  ? []
  : undefined extends Request
    ? [request?: Request]
    : [request: Request];

/** The method of an operation. Its arguments are the path parameters in order, the request, and options. */
export type MethodOf<AnyOperation> =
  AnyOperation extends Operation<infer Path, infer Request, infer Answer, infer Options>
    ? (
        ...given: [...PathArguments<Path>, ...RequestArgument<Request>, options?: Options | undefined]
      ) => Promise<ProviderAnswer<Answer>>
    : never;
