import type { Dispatcher } from 'undici';
import type { UnitTerms } from '../activities/index.js';
import { RateLimit } from '../activities/rate-limit.js';
import { outgoingLimits } from '../src/config/outgoing.js';
import type { Config } from '../src/config/index.js';
import { durationMs } from '../src/contract/fields.js';
import { FAILURE_TYPES } from '../src/contract/names.js';
import { DEFAULT_HOLD_MS } from '../src/domain/hold.js';
import { createDispatcher, ProviderClient, ProviderError } from '../src/provider/index.js';
import type { PaymentDetails } from '../src/webhook/route.js';

/** More connections than a worker has places for a unit's calls. */
const CONNECTIONS = 512;

/**
 * Creates one client per business unit, through `dispatcher` or each over connections of its own: calls of a unit whose
 * service is slow hold none of another unit.
 */
export function createProviders(config: Config, dispatcher?: Dispatcher): Map<string, ProviderClient> {
  return new Map(
    [...config.businessUnits.values()].map((unit) => [
      unit.name,
      new ProviderClient({
        baseUrl: config.apiBaseUrl,
        environment: config.environment,
        unit: {
          appId: unit.appId,
          privateKey: unit.privateKey,
          apiVersion: unit.apiVersion,
          ...(unit.publicKey !== undefined && { publicKey: unit.publicKey }),
        },
        dispatcher: dispatcher ?? createDispatcher({ maxConnections: CONNECTIONS }),
      }),
    ]),
  );
}

/** The share of this worker in each unit's limit. */
export function rateLimits(config: Config): Map<string, RateLimit> {
  return limitsOf(config, 1 / config.workerCount);
}

/** What a webhook handler may read beside the workers. Further events are parked, and a worker reads in its turn. */
const SHARE_OF_EVENTS = 0.1;

/** The limits of a webhook handler. */
export function eventRateLimits(config: Config): Map<string, RateLimit> {
  return limitsOf(config, SHARE_OF_EVENTS);
}

function limitsOf({ businessUnits }: Config, share: number): Map<string, RateLimit> {
  return new Map(
    [...businessUnits.values()].flatMap(({ name, callsPerSecond }): [string, RateLimit][] =>
      callsPerSecond === undefined ? [] : [[name, new RateLimit(callsPerSecond * share)]],
    ),
  );
}

/** Terms of each business unit, as the activities use them. */
export function unitTerms({ businessUnits, environment }: Config): Map<string, UnitTerms> {
  return new Map(
    [...businessUnits.values()].map(
      ({
        name,
        appId,
        apiVersion,
        riskUnit,
        holdDuration,
        consentIdFields,
        reads,
        namedAmounts,
        voidAfterPartialCapture,
        declines: { cap, ...table } = {},
        outgoing,
      }) => [
        name,
        {
          apiVersion,
          madeUnder: `${environment}/${appId}`,
          holdMs: durationMs(holdDuration) ?? DEFAULT_HOLD_MS,
          ...(riskUnit !== undefined && { riskUnit }),
          ...(consentIdFields !== undefined && { consentIdFields }),
          ...(reads === 'interface' && { onlyNamedReads: true as const }),
          ...(namedAmounts === 'ignored' && { ignoresAmounts: true as const }),
          ...(voidAfterPartialCapture === true && { voidAfterPartialCapture }),
          ...(Object.keys(table).length > 0 && { declines: table }),
          ...(cap !== undefined && { cardCap: cap }),
          ...(outgoing !== undefined && { outgoing: outgoingLimits(outgoing) }),
        },
      ],
    ),
  );
}

/**
 * Reads a payment's details for the webhook handler through the clients of all business units. A read that has no turn
 * is not sent: the handler takes it for one without an answer. That of a dispute needs none.
 */
export function createPaymentDetails(
  providers: ReadonlyMap<string, ProviderClient>,
  limits: ReadonlyMap<string, RateLimit>,
): PaymentDetails {
  return async ({ businessUnit, paymentId, isDisputed }, timeoutMs) => {
    const provider = providers.get(businessUnit);
    if (provider === undefined) throw new Error(`Business unit "${businessUnit}" is not configured`);
    if (isDisputed !== true && limits.get(businessUnit)?.atOnce() === false)
      throw new Error(
        `Payment ${paymentId} is not read: callsPerSecond of business unit "${businessUnit}" allows no more`,
      );
    try {
      const { data } = await provider.getPayment(paymentId, { timeoutMs });
      const { additionalDetails: details = {}, currency } = data;
      return { details, ...(currency !== undefined && { currency }) };
    } catch (error) {
      if (error instanceof ProviderError && error.failureType === FAILURE_TYPES.notFound) return undefined;
      throw error;
    }
  };
}
