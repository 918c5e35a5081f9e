import type { UnitTerms } from '../activities/index.js';
import type { Config } from '../src/config/index.js';
import { durationMs } from '../src/contract/duration.js';
import { DEFAULT_HOLD_MS } from '../src/domain/hold.js';
import { createDispatcher, ProviderClient } from '../src/provider/index.js';

/** Creates one client per business unit, over shared connections or through `dispatcher`. */
export function createProviders(config: Config, dispatcher = createDispatcher()): Map<string, ProviderClient> {
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
        dispatcher,
      }),
    ]),
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
        },
      ],
    ),
  );
}
