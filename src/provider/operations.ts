import type { z } from 'zod';
import { chargeRequestSchema, paymentRequestSchema } from './requests.js';
import type { ChargeRequest, PaymentRequest } from './requests.js';
import { paymentSchema, transactionListSchema, transactionSchema } from './responses.js';
import type { Payment, Transaction } from './responses.js';
import type { ApiVersion } from './versions.js';

/**
 * One call of the payment service. Both sides are in the shape of the newest API version; `versions.ts`
 * carries bodies over to and from the others.
 */
export interface Operation<Path extends string, Request, Answer> {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Each `{name}` is a UUID. */
  readonly path: Path;
  /** Takes an `idempotency-key`. */
  readonly keyed: boolean;
  /** May be repeated without a key: it changes nothing, or the same again. */
  readonly idempotent: boolean;
  /** Takes `x-client-ip-address`. */
  readonly takesClientIp: boolean;
  /** Takes `expand` in its query. */
  readonly takesExpand: boolean;
  /** Checks a request before it is sent; undefined where there is no body. */
  readonly request: ((version: ApiVersion) => z.ZodType<unknown, Request>) | undefined;
  readonly response: z.ZodType<Answer>;
  /** The path parameter that the answer's `id` must equal: an answer about something else is no answer. */
  readonly answersAbout: PathParameter<Path> | undefined;
}

/** Names in braces of a path template. */
export type PathParameter<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | PathParameter<Rest>
  : never;

type Row<Path extends string, Request, Answer> = Pick<
  Operation<Path, Request, Answer>,
  'method' | 'path' | 'response'
> &
  Partial<Operation<Path, Request, Answer>>;

function operation<const Path extends string, Request, Answer>(
  row: Row<Path, Request, Answer>,
): Operation<Path, Request, Answer> {
  return {
    keyed: row.method === 'POST',
    idempotent: row.method !== 'POST',
    takesClientIp: false,
    takesExpand: false,
    request: undefined,
    answersAbout: undefined,
    ...row,
  };
}

/** Every call this client knows. A further one is a further row and, in `client.ts`, a method. */
export const OPERATIONS = {
  createPayment: operation<'/payments', PaymentRequest, Payment>({
    method: 'POST',
    path: '/payments',
    request: paymentRequestSchema,
    response: paymentSchema,
  }),
  getPayment: operation<'/payments/{paymentId}', never, Payment>({
    method: 'GET',
    path: '/payments/{paymentId}',
    takesExpand: true,
    response: paymentSchema,
    answersAbout: 'paymentId',
  }),
  updatePayment: operation<'/payments/{paymentId}', PaymentRequest, Payment>({
    method: 'PUT',
    path: '/payments/{paymentId}',
    request: paymentRequestSchema,
    response: paymentSchema,
    answersAbout: 'paymentId',
  }),
  createCharge: operation<'/payments/{paymentId}/charges', ChargeRequest, Transaction>({
    method: 'POST',
    path: '/payments/{paymentId}/charges',
    takesClientIp: true,
    request: chargeRequestSchema,
    response: transactionSchema,
  }),
  getCharge: operation<'/payments/{paymentId}/charges/{chargeId}', never, Transaction>({
    method: 'GET',
    path: '/payments/{paymentId}/charges/{chargeId}',
    response: transactionSchema,
    answersAbout: 'chargeId',
  }),
  listCharges: operation<'/payments/{paymentId}/charges', never, Transaction[]>({
    method: 'GET',
    path: '/payments/{paymentId}/charges',
    response: transactionListSchema,
  }),
} as const;

export type OperationName = keyof typeof OPERATIONS;
type OperationOf<Name extends OperationName> = (typeof OPERATIONS)[Name];
export type ParametersOf<Name extends OperationName> = Record<PathParameter<OperationOf<Name>['path']>, string>;
export type AnswerOf<Name extends OperationName> = z.output<OperationOf<Name>['response']>;
