import type { Config } from '../src/config.js';
import { createDispatcher, ProviderClient } from '../src/provider/index.js';

/** One client per business unit, over shared connections. */
export function createProviders(config: Config): Map<string, ProviderClient> {
  const dispatcher = createDispatcher();
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
