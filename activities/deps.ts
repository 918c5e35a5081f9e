import { ApplicationFailure } from '@temporalio/common';
import type { EnginePort } from '../src/contract/engine-port.js';
import type { FailureDetails } from '../src/contract/failure-types.js';
import { FAILURE_TYPES } from '../src/contract/failure-types.js';
import type { ApiVersion, ProviderClient } from '../src/provider/index.js';
import { isSince } from '../src/provider/index.js';

export interface UnitTerms {
  /** Name of the unit under which payments to be risk-analysed are created. */
  riskUnit?: string;
  /** Cards can be stored since 1.2.0, risk is analysed since 1.3.0. Absent: the newest. */
  apiVersion?: ApiVersion;
  /** Where its providers put the consent id, by their names (see `consent-id.ts`). */
  consentIdFields?: Readonly<Record<string, string>>;
  /** Environment and app id, such as `live/shop-1`. */
  madeUnder?: string;
  /** How long its provider holds an authorization. */
  holdMs: number;
  /** The service has no list of transactions, and of single ones only the charge (see `transactions.ts`). */
  onlyNamedReads?: true;
  /** A capture or refund that names an amount moves the whole all the same. */
  ignoresAmounts?: true;
  /** A void after a partial capture lets go of the rest, and cancels no capture. */
  voidAfterPartialCapture?: true;
}

/** What activities need; handed in by `workers`. */
export interface ActivityDeps {
  /** One client of the payment service per business unit, by the unit's name. */
  providers: ReadonlyMap<string, ProviderClient>;
  /** What the configuration says of each unit, by its name. A unit that is not here has no terms to offer. */
  units?: ReadonlyMap<string, UnitTerms>;
  engine: EnginePort;
  /** Whether a start in clear is refused. */
  refusesClear?: boolean;
  /** Epoch ms. */
  now(): number;
}

/**
 * For reads.
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

/** The version that brought stored cards. */
const CARDS_SINCE = '1.2.0';

/** Why the unit can't use a stored card, or nothing. */
export function whyNoCards({ units }: ActivityDeps, businessUnit: string): string | undefined {
  const { apiVersion } = units?.get(businessUnit) ?? {};
  if (apiVersion === undefined || isSince(apiVersion, CARDS_SINCE)) return undefined;
  return (
    `business unit "${businessUnit}" uses API version ${apiVersion}, and cards can be stored and used again only ` +
    `since ${CARDS_SINCE}; raise its apiVersion, or pay with a new token and without cardOnFile`
  );
}
