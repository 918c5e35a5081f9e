import type { Dispatcher } from 'undici';
import { faultsOf, uuidSchema } from '../contract/fields.js';
import { readAnswer } from './answers.js';
import type { ProviderAnswer } from './answers.js';
import { ProviderError } from './errors.js';
import { OPERATIONS } from './operations.js';
import type { AnswerOf, Operation, OperationName, ParametersOf } from './operations.js';
import {
  DEFAULT_MAX_BODY_BYTES,
  DEFAULT_TIMEOUT_MS,
  createDispatcher,
  faultsOfCall,
  faultsOfClient,
} from './options.js';
import type {
  AnyCallOptions,
  CallOptions,
  GetPaymentOptions,
  PostOptions,
  ProviderClientOptions,
  TransactionOptions,
} from './options.js';
import { scrubber, secretsOf } from './redact.js';
import { toWireNames } from './requests.js';
import type { ChargeRequest, PaymentRequest } from './requests.js';
import type { Payment, Transaction } from './responses.js';
import { exchange } from './transport.js';
import { VersionFault, encodeBody } from './versions.js';

/**
 * The payment service, typed. Sends each call at most once: who calls decides about repeating, with the
 * same idempotency key. Every method throws {@link ProviderError} and nothing else. Amounts are minor
 * units at every API version.
 */
export class ProviderClient {
  // Private fields, so that no log of a client shows a key.
  readonly #options: ProviderClientOptions;
  readonly #dispatcher: Dispatcher;
  readonly #origin: string;
  readonly #basePath: string;

  /** @throws ProviderError of kind `request` that lists every fault of the options */
  constructor(options: ProviderClientOptions) {
    const faults = faultsOfClient(options);
    if (faults.length > 0) throw refusal('ProviderClient', faults, 'the options can not be used');
    const url = new URL(options.baseUrl);
    this.#options = { ...options, unit: { ...options.unit } };
    this.#origin = url.origin;
    this.#basePath = url.pathname.replace(/\/+$/, '');
    this.#dispatcher = options.dispatcher ?? createDispatcher(options);
  }

  createPayment(request: PaymentRequest, options: PostOptions = {}): Promise<ProviderAnswer<Payment>> {
    return this.#call('createPayment', {}, request, options);
  }

  getPayment(paymentId: string, options: GetPaymentOptions = {}): Promise<ProviderAnswer<Payment>> {
    return this.#call('getPayment', { paymentId }, undefined, options);
  }

  /** Replaces the whole payment: what is not sent again is gone. */
  updatePayment(
    paymentId: string,
    request: PaymentRequest,
    options: CallOptions = {},
  ): Promise<ProviderAnswer<Payment>> {
    return this.#call('updatePayment', { paymentId }, request, options);
  }

  /** A `Failed` transaction is an answer, not an error. */
  createCharge(
    paymentId: string,
    request: ChargeRequest,
    options: TransactionOptions = {},
  ): Promise<ProviderAnswer<Transaction>> {
    return this.#call('createCharge', { paymentId }, request, options);
  }

  getCharge(paymentId: string, chargeId: string, options: CallOptions = {}): Promise<ProviderAnswer<Transaction>> {
    return this.#call('getCharge', { paymentId, chargeId }, undefined, options);
  }

  listCharges(paymentId: string, options: CallOptions = {}): Promise<ProviderAnswer<Transaction[]>> {
    return this.#call('listCharges', { paymentId }, undefined, options);
  }

  /** Waits for the calls under way, then closes the connections. A dispatcher that was handed in stays open. */
  async close(): Promise<void> {
    if (this.#options.dispatcher === undefined) await this.#dispatcher.close();
  }

  async #call<Name extends OperationName>(
    name: Name,
    parameters: ParametersOf<Name>,
    request: unknown,
    options: AnyCallOptions,
  ): Promise<ProviderAnswer<AnswerOf<Name>>> {
    const row = OPERATIONS[name] as unknown as Operation<string, unknown, AnswerOf<Name>>;
    const { unit } = this.#options;
    const faults = [...faultsOfParameters(parameters), ...faultsOfCall(options)];
    const body = this.#bodyOf(row, request, options, faults);
    if (faults.length > 0) throw refusal(name, faults);

    const result = await exchange(
      this.#dispatcher,
      {
        origin: this.#origin,
        method: row.method,
        path: this.#basePath + pathOf(row, parameters, options),
        headers: this.#headersOf(row, options),
        body,
      },
      {
        timeoutMs: options.timeoutMs ?? this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
        maxBodyBytes: this.#options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES,
        signal: options.signal,
      },
    );
    return readAnswer(result, {
      operation: name,
      origin: this.#origin,
      version: unit.apiVersion,
      schema: row.response,
      about: row.answersAbout === undefined ? undefined : (parameters as Record<string, string>)[row.answersAbout],
      currency: options.currency,
      secrets: [unit.privateKey, ...secretsOf(request)],
    });
  }

  /** The body's text; what is wrong with the request is added to `faults`. */
  #bodyOf(
    row: Operation<string, unknown, unknown>,
    request: unknown,
    options: AnyCallOptions,
    faults: string[],
  ): string | null {
    if (row.request === undefined) return null;
    const { apiVersion } = this.#options.unit;
    const checked = row.request(apiVersion).safeParse(request);
    if (!checked.success) {
      faults.push(...faultsOf(checked.error));
      return null;
    }
    try {
      return encodeBody(toWireNames(checked.data) as Record<string, unknown>, apiVersion, options.currency);
    } catch (error) {
      if (!(error instanceof VersionFault)) throw error;
      faults.push(...error.faults.map(fieldName));
      return null;
    }
  }

  #headersOf(row: Operation<string, unknown, unknown>, options: AnyCallOptions): Record<string, string> {
    const { unit, environment } = this.#options;
    return {
      'content-type': 'application/json',
      accept: 'application/json',
      'api-version': unit.apiVersion,
      'x-svc-env': environment,
      'app-id': unit.appId,
      'private-key': unit.privateKey,
      ...(row.keyed && options.idempotencyKey !== undefined ? { 'idempotency-key': options.idempotencyKey } : {}),
      ...(row.takesClientIp && options.clientIpAddress !== undefined
        ? { 'x-client-ip-address': options.clientIpAddress }
        : {}),
    };
  }
}

/** Only UUIDs get into a path: anything else could climb to another resource. */
function faultsOfParameters(parameters: Record<string, string>): string[] {
  return Object.entries(parameters)
    .filter(([, value]) => !uuidSchema.safeParse(value).success)
    .map(([name]) => `${name}: is not a UUID`);
}

function pathOf(
  row: Operation<string, unknown, unknown>,
  parameters: Record<string, string>,
  options: AnyCallOptions,
): string {
  const path = row.path.replace(/\{(\w+)\}/g, (_braces, name: string) => parameters[name] ?? '');
  if (!row.takesExpand || options.expand === undefined || options.expand.length === 0) return path;
  return `${path}?${options.expand.map((name) => `expand=${name}`).join('&')}`;
}

/** The caller's own name of a wire path: `installments.firstPaymentAmount`. */
function fieldName(fault: string): string {
  return fault.replace(/^[^:]*/, (path) => path.replace(/_([a-z])/g, (_match, letter: string) => letter.toUpperCase()));
}

/** The name of an unknown field can be anything, a card number too. */
function refusal(
  operation: string,
  faults: readonly string[],
  says = "not sent, since the payment service can't accept it",
): ProviderError {
  const mask = scrubber([]);
  const clean = faults.map((fault) => (fault.endsWith(': unknown field') ? mask(fault) : fault));
  return new ProviderError(`${operation}: ${says}: ${clean.join('; ')}`, {
    kind: 'request',
    operation,
    mayHaveLeft: false,
    faults: clean,
  });
}
