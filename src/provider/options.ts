import { isIP } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { MAX_KEY_LENGTH } from '../contract/idempotency.js';
import { isCurrency } from '../contract/currencies.js';
import { API_VERSIONS, type ApiVersion } from './versions.js';

/** Credentials of one business unit of the merchant. */
export interface ProviderUnit {
  appId: string;
  privateKey: string;
  /** Needed only for `createToken`, which is sent with this key. */
  publicKey?: string;
  apiVersion: ApiVersion;
}

export interface ProviderClientOptions {
  /** Address such as `https://api.example.com`; a path in it is kept. */
  baseUrl: string;
  environment: 'test' | 'live';
  unit: ProviderUnit;
  /**
   * An undici dispatcher, for example a proxy or a pool shared by several clients. It must not retry, it uses its own
   * connect limit, and `close()` leaves it open.
   */
  dispatcher?: Dispatcher;
  /** Time limit in ms for connecting, including TLS. Default 3000. */
  connectTimeoutMs?: number;
  /** Time limit in ms for a whole call, including connecting and reading the body. Default 60000. */
  timeoutMs?: number;
  /** Maximum size of an answer in bytes. Default 2 MiB. */
  maxBodyBytes?: number;
}

export interface CallOptions {
  /** Time limit in ms for this call. Default: the client's `timeoutMs`. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /**
   * API version 1.0.0 only: currency of the amounts if the body names none, as for transactions. Without it, such an
   * amount is left out of the answer.
   */
  currency?: string;
}

export interface PostOptions extends CallOptions {
  /** 1 to 78 visible ASCII characters. The service keeps the key for 24 hours. */
  idempotencyKey?: string;
}

export interface TransactionOptions extends PostOptions {
  /** The buyer's IPv4 or IPv6 address. */
  clientIpAddress?: string;
}

const EXPANDABLE = [
  'all',
  'authorizations',
  'charges',
  'captures',
  'refunds',
  'voids',
  'credits',
  'redirections',
  'customer',
  'payment_method',
] as const;
export type Expandable = (typeof EXPANDABLE)[number];

export interface GetPaymentOptions extends CallOptions {
  expand?: readonly Expandable[];
}

export type AnyCallOptions = TransactionOptions & GetPaymentOptions;

const DEFAULT_CONNECT_TIMEOUT_MS = 3000;
export const DEFAULT_TIMEOUT_MS = 60_000;
export const DEFAULT_MAX_BODY_BYTES = 2 * 1024 * 1024;
const MAX_TIMER_MS = 2 ** 31 - 1;

/** A header value without spaces or control characters, so that it arrives unchanged. */
const HEADER_VALUE = /^[\x21-\x7e]+$/;

/**
 * A keep-alive agent for money movements: one request at a time per connection, and no retries. Clients of several
 * business units can share it.
 */
export function createDispatcher(options: { connectTimeoutMs?: number; maxConnections?: number } = {}): Dispatcher {
  return new Agent({
    pipelining: 1,
    connections: options.maxConnections ?? 128,
    connect: { timeout: options.connectTimeoutMs ?? DEFAULT_CONNECT_TIMEOUT_MS },
  });
}

/** Faults of the client's settings. Never contains the value of a key. */
export function faultsOfClient(options: ProviderClientOptions): string[] {
  const { unit } = options;
  return [
    ...faultsOfBaseUrl(options),
    ...(['test', 'live'].includes(options.environment) ? [] : ['environment: is neither "test" nor "live"']),
    ...(HEADER_VALUE.test(unit.appId) ? [] : ['unit.appId: is empty or holds a character that no header can carry']),
    ...(HEADER_VALUE.test(unit.privateKey)
      ? []
      : ['unit.privateKey: is empty or holds a character that no header can carry']),
    ...(unit.publicKey === undefined || HEADER_VALUE.test(unit.publicKey)
      ? []
      : ['unit.publicKey: is empty or holds a character that no header can carry']),
    ...(API_VERSIONS.includes(unit.apiVersion) ? [] : [`unit.apiVersion: is none of ${API_VERSIONS.join(', ')}`]),
    ...faultsOfCount('connectTimeoutMs', options.connectTimeoutMs),
    ...faultsOfCount('timeoutMs', options.timeoutMs),
    ...faultsOfCount('maxBodyBytes', options.maxBodyBytes),
  ];
}

function faultsOfBaseUrl({ baseUrl, environment }: ProviderClientOptions): string[] {
  if (!URL.canParse(baseUrl)) return ['baseUrl: is not an address, such as https://api.example.com'];
  const url = new URL(baseUrl);
  const faults: string[] = [];
  if (!['http:', 'https:'].includes(url.protocol)) faults.push('baseUrl: is neither http nor https');
  if (url.username !== '' || url.password !== '') faults.push('baseUrl: must hold no user name and no password');
  if (url.search !== '' || url.hash !== '') faults.push('baseUrl: must hold no query and no fragment');
  const local = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(url.hostname);
  if (environment === 'live' && url.protocol === 'http:' && !local) {
    faults.push('baseUrl: must be https for the live environment, since every request carries the private key');
  }
  return faults;
}

/** Faults of the options of one call. */
export function faultsOfCall(options: AnyCallOptions): string[] {
  const { idempotencyKey: key, clientIpAddress: ip, currency, expand } = options;
  const faults = faultsOfCount('timeoutMs', options.timeoutMs);
  if (key !== undefined && !HEADER_VALUE.test(key)) {
    faults.push('idempotencyKey: is empty or holds a character other than visible ASCII');
  }
  if (key !== undefined && key.length > MAX_KEY_LENGTH) {
    faults.push(
      `idempotencyKey: has ${key.length} characters, ${MAX_KEY_LENGTH} is the most that every provider takes`,
    );
  }
  if (ip !== undefined && (isIP(ip) === 0 || !HEADER_VALUE.test(ip))) {
    faults.push('clientIpAddress: is neither an IPv4 nor an IPv6 address');
  }
  if (currency !== undefined && !isCurrency(currency)) faults.push('currency: is not an ISO 4217 currency code');
  for (const name of expand ?? []) {
    if (!EXPANDABLE.includes(name)) faults.push(`expand: takes only ${EXPANDABLE.join(', ')}`);
  }
  return faults;
}

function faultsOfCount(name: string, value: number | undefined): string[] {
  if (value === undefined || (Number.isInteger(value) && value >= 1 && value <= MAX_TIMER_MS)) return [];
  return [`${name}: ${value} is not a whole number from 1 to ${MAX_TIMER_MS}`];
}
