import type { Dispatcher } from 'undici';
import { customerIdSchema, faultsOf, uuidSchema } from '../../contract/fields.js';
import { type ProviderAnswer, readAnswer } from './answers.js';
import { ProviderError } from './errors.js';
import {
  type AnyCallOptions,
  createDispatcher,
  DEFAULT_MAX_BODY_BYTES,
  DEFAULT_TIMEOUT_MS,
  faultsOfCall,
  faultsOfClient,
  type ProviderClientOptions,
} from '../options.js';
import { redactor, secretsOf } from '../redact.js';
import { isSince } from '../versions.js';
import { VersionFault, encodeBody, toCallerPath, toWireNames } from '../wire.js';
import { type Operation, parametersOf } from './operation.js';
import { exchange } from './transport.js';

type AnyOperation = Operation<string, unknown, unknown, unknown>;

/** Executes operations: validates, sends, and reads the answer. */
export class Caller {
  // Private fields, so that a logged client shows no key.
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

  async close(): Promise<void> {
    if (this.#options.dispatcher === undefined) await this.#dispatcher.close();
  }

  /** @param given the arguments of the operation's method */
  async call(name: string, row: AnyOperation, given: readonly unknown[]): Promise<ProviderAnswer<unknown>> {
    const names = parametersOf(row.path);
    const values = Object.fromEntries(names.map((parameter, index) => [parameter, given[index] as string]));
    const rest = given.slice(names.length);
    const request = row.request === undefined ? undefined : rest.shift();
    const options = (rest[0] ?? {}) as AnyCallOptions;

    const { unit } = this.#options;
    const faults = [...this.#faultsOfUnit(name, row), ...faultsOfParameters(row, values), ...faultsOfCall(options)];
    const body = this.#bodyOf(row, request, options, faults);
    if (faults.length > 0) throw refusal(name, faults);

    const result = await exchange(
      this.#dispatcher,
      {
        origin: this.#origin,
        method: row.method,
        path: this.#basePath + pathOf(row, values, options),
        headers: this.#headersOf(row, options),
        body,
      },
      {
        timeoutMs: options.timeoutMs ?? this.#options.timeoutMs ?? DEFAULT_TIMEOUT_MS,
        maxBodyBytes: this.#options.maxBodyBytes ?? DEFAULT_MAX_BODY_BYTES,
        signal: options.signal,
      },
    );
    const { answersAbout } = row;
    return readAnswer(result, {
      operation: name,
      origin: this.#origin,
      version: unit.apiVersion,
      schema: row.response,
      bodyless: row.method === 'DELETE',
      failures: row.failures(unit.apiVersion),
      about: answersAbout && { field: answersAbout.field, value: values[answersAbout.parameter] ?? '' },
      currency: options.currency,
      secrets: [unit.privateKey, ...secretsOf(request)],
    });
  }

  /** Reasons why this business unit can't execute the operation at all. */
  #faultsOfUnit(name: string, row: AnyOperation): string[] {
    const { apiVersion, publicKey } = this.#options.unit;
    return [
      ...(isSince(apiVersion, row.since)
        ? []
        : [`unit.apiVersion: ${apiVersion} has no ${name}, which came with API version ${row.since}`]),
      ...(row.credentials === 'private' || publicKey !== undefined
        ? []
        : [`unit.publicKey: is missing, and ${name} is sent with it`]),
    ];
  }

  /** The text of the body. Adds the faults of the request to `faults`. */
  #bodyOf(row: AnyOperation, request: unknown, options: AnyCallOptions, faults: string[]): string | null {
    if (row.request === undefined) return null;
    const { apiVersion } = this.#options.unit;
    const checked = row.request(apiVersion).safeParse(request);
    if (!checked.success) {
      faults.push(...faultsOf(checked.error));
      return null;
    }
    try {
      const body = toWireNames(checked.data) as Record<string, unknown>;
      return encodeBody(body, apiVersion, options.currency, row.pays);
    } catch (error) {
      if (!(error instanceof VersionFault)) throw error;
      faults.push(...error.faults.map((fault) => fault.replace(/^[^:]*/, toCallerPath)));
      return null;
    }
  }

  #headersOf(row: AnyOperation, options: AnyCallOptions): Record<string, string> {
    const { unit, environment } = this.#options;
    const { idempotencyKey, clientIpAddress } = options;
    return {
      'content-type': 'application/json',
      accept: 'application/json',
      'api-version': unit.apiVersion,
      'x-svc-env': environment,
      'app-id': unit.appId,
      ...(row.credentials === 'public' ? { 'public-key': unit.publicKey ?? '' } : { 'private-key': unit.privateKey }),
      ...(row.keyed && idempotencyKey !== undefined ? { 'idempotency-key': idempotencyKey } : {}),
      ...(row.takesClientIp && clientIpAddress !== undefined ? { 'x-client-ip-address': clientIpAddress } : {}),
    };
  }
}

const MAX_QUERY_TEXT = 255;

/** Allows only UUIDs and similarly checked ids in a path: any other text could address another resource. */
function faultsOfParameters(row: AnyOperation, parameters: Record<string, string>): string[] {
  const [path = ''] = row.path.split('?', 1);
  return Object.entries(parameters).flatMap(([name, value]) => {
    if (path.includes(`{${name}}`)) {
      const checked = (name === 'customerId' ? customerIdSchema : uuidSchema).safeParse(value);
      return checked.success ? [] : [`${name}: ${checked.error.issues[0]?.message ?? 'can not be used'}`];
    }
    const isText = typeof value === 'string' && value !== '' && value.length <= MAX_QUERY_TEXT && isWellFormed(value);
    return isText ? [] : [`${name}: is not a text of 1 to ${MAX_QUERY_TEXT} characters`];
  });
}

/** A lone surrogate can't be URL-encoded. */
function isWellFormed(text: string): boolean {
  return !/\p{Surrogate}/u.test(text);
}

function pathOf(row: AnyOperation, parameters: Record<string, string>, options: AnyCallOptions): string {
  const path = row.path.replace(/\{(\w+)\}/g, (_braces, name: string) => encodeURIComponent(parameters[name] ?? ''));
  if (!row.takesExpand || options.expand === undefined || options.expand.length === 0) return path;
  return `${path}?${options.expand.map((name) => `expand=${name}`).join('&')}`;
}

/** Masks the faults, because the name of an unknown field could be a card number. */
function refusal(
  operation: string,
  faults: readonly string[],
  says = "not sent, since the payment service can't accept it",
): ProviderError {
  const mask = redactor([]);
  const clean = faults.map((fault) => (fault.endsWith(': unknown field') ? mask(fault) : fault));
  return new ProviderError(`${operation}: ${says}: ${clean.join('; ')}`, {
    kind: 'request',
    operation,
    mayHaveLeft: false,
    faults: clean,
  });
}
