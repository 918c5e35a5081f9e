import { AsyncLocalStorage } from 'node:async_hooks';
import { activityInfo, cancellationSignal, heartbeat } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { CardCap, DeclineTable } from '../src/contract/declines.js';
import type { EnginePort } from '../src/contract/engine-port.js';
import { FAILURE_TYPES, type FailureDetails } from '../src/contract/names.js';
import type { Brake } from '../src/contract/brakes.js';
import type { OutgoingLimits } from '../src/contract/outgoing.js';
import type { ReferenceBook } from '../src/contract/reference-book.js';
import { REFUSING_STATUSES } from '../src/domain/absence.js';
import type { LostTime } from '../src/domain/lost-time.js';
import type { Statement } from '../src/domain/statement.js';
import type { NotifySettings } from '../src/security/notify-settings.js';
import { type ApiVersion, isSince, type ProviderClient, type CallOptions } from '../src/provider/index.js';
import { READ_KNOWLEDGE, toApplicationFailure } from './to-application-failure.js';

export interface UnitTerms {
  /** Name of the unit that creates payments with risk analysis. */
  riskUnit?: string;
  /** Cards can be stored since 1.2.0, risk is analysed since 1.3.0. undefined: the newest. */
  apiVersion?: ApiVersion;
  /** Field of the consent id by provider name (see `consentIdOf`). */
  consentIdFields?: Readonly<Record<string, string>>;
  /** Environment and app id, such as `live/shop-1`. */
  madeUnder?: string;
  /** How long its provider holds an authorization. */
  holdMs: number;
  /** The service offers no list of transactions, and reads of single charges only (see `transactions.ts`). */
  onlyNamedReads?: true;
  /** A capture or refund that names an amount still moves the whole. */
  ignoresAmounts?: true;
  /** A void after a partial capture releases the rest and does not cancel the capture. */
  voidAfterPartialCapture?: true;
  /** Only if it names any kind of decline. */
  declines?: DeclineTable;
  /** Its own limit of declined tries per card. */
  cardCap?: CardCap;
  /** What it may send to cards before another person approves it. */
  outgoing?: OutgoingLimits;
}

/** A restore of the engine's database from a backup. */
export interface Restored {
  lost: LostTime;
  /** What the payment service says of that time; undefined until somebody has asked it. */
  statement?: Statement | undefined;
}

/** Dependencies of the activities, passed in by `workers`. */
export interface ActivityDeps {
  /** One client of the payment service per business unit, by the unit's name. */
  providers: ReadonlyMap<string, ProviderClient>;
  /** Configured terms of each unit, by its name. A missing unit has no terms. */
  units?: ReadonlyMap<string, UnitTerms>;
  engine: EnginePort;
  /** undefined: none is configured, and references are unique as long as Temporal keeps their flows. */
  referenceBook?: ReferenceBook | undefined;
  /** The brake of a business unit, as this worker knows it now; undefined: it has none. */
  brakeOf?: ((businessUnit: string) => Brake | undefined) | undefined;
  /** Whether a start with an unencrypted input is refused. */
  refusesClear?: boolean;
  /** undefined: nothing was restored. */
  restored?: Restored | undefined;
  /** undefined: nobody is told anything. */
  notifications?: NotifySettings | undefined;
  /** Epoch ms. */
  now(): number;
}

/**
 * Returns the client for reads.
 * @throws ApplicationFailure `CredentialsRejected` for a unit that this worker's configuration lacks
 */
export function providerFor(deps: ActivityDeps, businessUnit: string): ProviderClient {
  const provider = deps.providers.get(businessUnit);
  if (provider !== undefined) return provider;
  const details: FailureDetails = { mayHaveLeft: false };
  throw ApplicationFailure.nonRetryable(knownUnits(deps, businessUnit), FAILURE_TYPES.credentialsRejected, details);
}

export function knownUnits(deps: ActivityDeps, businessUnit: string): string {
  const known = [...deps.providers.keys()].join(', ');
  return `Business unit "${businessUnit}" is not configured; this worker knows ${known}`;
}

/** First API version with stored cards. */
const CARDS_SINCE = '1.2.0';

/** Returns why the unit can't use a stored card; undefined if it can. */
export function whyNoCards({ units }: ActivityDeps, businessUnit: string): string | undefined {
  const { apiVersion } = units?.get(businessUnit) ?? {};
  if (apiVersion === undefined || isSince(apiVersion, CARDS_SINCE)) return undefined;
  return (
    `business unit "${businessUnit}" uses API version ${apiVersion}, and cards can be stored and used again only ` +
    `since ${CARDS_SINCE}; raise its apiVersion, or pay with a new token and without cardOnFile`
  );
}

/** The activity times out 5 s later, of which it may wait 3 s for its turn. */
const READ_HTTP_MS = 15_000;

/** Options of every read. `currency` is that of the amounts, since API version 1.0.0 names none. */
export function readOptions(currency?: string): CallOptions {
  return { timeoutMs: READ_HTTP_MS, signal: cancellationSignal(), ...(currency !== undefined && { currency }) };
}

/** Less than a third of the heartbeat timeout of reads and look-ups. */
const BEAT_MS = 3_000;

/** What the heartbeats of work repeat, and of work within it: the next attempt sees only the last one. */
const repeated = new AsyncLocalStorage<unknown>();

/**
 * Sends heartbeats while `work` runs, so that a read lost with its worker is retried within seconds. Reading a long
 * history takes minutes. A cancelled activity sends no more heartbeats, since nothing waits for its answer.
 */
export async function whileBeating<Answer>(
  work: () => Promise<Answer>,
  details: unknown = repeated.getStore(),
): Promise<Answer> {
  const beats = activityInfo().isLocal ? undefined : setInterval(() => heartbeat(details), BEAT_MS).unref();
  const stop = (): void => clearInterval(beats);
  const cancelled = cancellationSignal();
  cancelled.addEventListener('abort', stop, { once: true });
  try {
    return await repeated.run(details, work);
  } finally {
    cancelled.removeEventListener('abort', stop);
    stop();
  }
}

/** Wraps a look-up so that it sends heartbeats while it runs. */
export function beating<Deps, Call extends unknown[], Answer>(
  look: (deps: Deps, ...call: Call) => Promise<Answer>,
): (deps: Deps, ...call: Call) => Promise<Answer> {
  return (deps, ...call) => whileBeating(() => look(deps, ...call));
}

/**
 * Sends a read of the call's business unit: every answer is believed, and every failure is thrown with its type.
 * @throws ApplicationFailure `CredentialsRejected` for a unit that this worker's configuration lacks
 */
export async function readCall<Answer>(
  deps: ActivityDeps,
  { businessUnit, currency }: { businessUnit: string; currency?: string },
  send: (provider: ProviderClient, options: CallOptions) => Promise<Answer>,
): Promise<Answer> {
  const provider = providerFor(deps, businessUnit);
  try {
    return await whileBeating(() => send(provider, readOptions(currency)));
  } catch (error) {
    throw toApplicationFailure(error, READ_KNOWLEDGE);
  }
}

/**
 * What one result may hold that could be asked for in parts. The engine takes 2 MB, and each part alone has fitted before.
 */
export const MOST_BYTES_TOGETHER = 1_000_000;

export function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value) ?? '');
}

/** True if the service answered a read as it answers one that it does not offer. */
export function isRefusedRead(error: unknown): boolean {
  if (!(error instanceof ApplicationFailure)) return false;
  const { httpStatus } = (error.details?.[0] ?? {}) as Partial<FailureDetails>;
  return httpStatus !== undefined && REFUSING_STATUSES.includes(httpStatus);
}

/** True for the answer of a service without the list. A 404 without the service's own error body may be that of a proxy. */
export function offersNoList({ httpStatus, category }: Pick<FailureDetails, 'httpStatus' | 'category'>): boolean {
  if (httpStatus === undefined || !REFUSING_STATUSES.includes(httpStatus)) return false;
  return httpStatus !== 404 || category !== undefined;
}

/** What the service answers, with the same error body, where it has not looked for the payment: see its list of errors. */
const NOT_OF_THE_PAYMENT = /app_id|path not found/i;

/** True for a 404 of the service that says of a payment that there is none. */
export function saysNoPayment({ category, moreInfo = '' }: Pick<FailureDetails, 'category' | 'moreInfo'>): boolean {
  return category !== undefined && !NOT_OF_THE_PAYMENT.test(moreInfo);
}

/** Resolves to undefined for a 404: the resource does not exist. */
export async function orNothing<Answer>(read: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ApplicationFailure && error.type === FAILURE_TYPES.notFound) return undefined;
    throw error;
  }
}
