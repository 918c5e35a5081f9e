import { Caller } from './http/caller.js';
import type { MethodOf } from './http/operation.js';
import type { ProviderClientOptions } from './options.js';
import { CUSTOMERS } from './resources/customers.js';
import { LOOKUPS } from './resources/lookups.js';
import { PAYMENTS } from './resources/payments.js';
import { RISK_ANALYSES } from './resources/risk-analyses.js';
import { TOKENS } from './resources/tokens.js';
import { TRANSACTIONS } from './resources/transactions.js';

/** All operations; each is a method of {@link ProviderClient} with the same name. */
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
 * Typed client of the payment service. Sends each call at most once: the caller decides whether to repeat it, with the
 * same idempotency key. Every method throws only {@link ProviderError}. Amounts are minor units at every API version.
 */
export type ProviderClient = Connection & { [Name in OperationName]: MethodOf<(typeof OPERATIONS)[Name]> };

export interface Connection {
  /** Waits for running calls, then closes the connections. A dispatcher from the options stays open. */
  close(): Promise<void>;
}

export interface ProviderClientConstructor {
  /** @throws ProviderError of kind `request` that lists every fault of the options */
  new (options: ProviderClientOptions): ProviderClient;
  readonly prototype: ProviderClient;
}

export const ProviderClient = class ProviderClient implements Connection {
  // Private, so that a logged client shows no key.
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
      // Same property attributes as a class method.
      Object.defineProperty(this.prototype, name, { value: method, writable: true, configurable: true });
    }
  }
} as unknown as ProviderClientConstructor;
