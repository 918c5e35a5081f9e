import { Caller } from './http/caller.js';
import type { MethodOf } from './http/operation.js';
import type { ProviderClientOptions } from './options.js';
import { CUSTOMERS } from './resources/customers.js';
import { LOOKUPS } from './resources/lookups.js';
import { PAYMENTS } from './resources/payments.js';
import { RISK_ANALYSES } from './resources/risk-analyses.js';
import { TOKENS } from './resources/tokens.js';
import { TRANSACTIONS } from './resources/transactions.js';

/** Every call this client knows: each is a method of {@link ProviderClient}, with the same name. */
export const OPERATIONS = {
  ...PAYMENTS,
  ...TRANSACTIONS,
  ...RISK_ANALYSES,
  ...CUSTOMERS,
  ...TOKENS,
  ...LOOKUPS,
} as const;

export type OperationName = keyof typeof OPERATIONS;

/**
 * The payment service, typed. Sends each call at most once: who calls decides about repeating, with the
 * same idempotency key. Every method throws {@link ProviderError} and nothing else. Amounts are minor
 * units at every API version.
 */
export type ProviderClient = Connection & { [Name in OperationName]: MethodOf<(typeof OPERATIONS)[Name]> };

interface Connection {
  /** Waits for the calls under way, then closes the connections. A dispatcher that was handed in stays open. */
  close(): Promise<void>;
}

interface ProviderClientConstructor {
  /** @throws ProviderError of kind `request` that lists every fault of the options */
  new (options: ProviderClientOptions): ProviderClient;
  readonly prototype: ProviderClient;
}

export const ProviderClient = class ProviderClient implements Connection {
  // Private, so that no log of a client shows a key.
  readonly #caller: Caller;

  constructor(options: ProviderClientOptions) {
    this.#caller = new Caller(options);
  }

  close(): Promise<void> {
    return this.#caller.close();
  }

  static {
    for (const [name, operation] of Object.entries(OPERATIONS)) {
      const method = function (this: ProviderClient, ...given: unknown[]): Promise<unknown> {
        return this.#caller.call(name, operation, given);
      };
      // As a method of a class is defined.
      Object.defineProperty(this.prototype, name, { value: method, writable: true, configurable: true });
    }
  }
} as unknown as ProviderClientConstructor;
