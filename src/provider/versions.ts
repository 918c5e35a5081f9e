/** Every API version of the payment service, oldest first. */
export const API_VERSIONS = ['1.0.0', '1.1.0', '1.2.0', '1.3.0'] as const;
export type ApiVersion = (typeof API_VERSIONS)[number];

/** Differences between API versions. The rest of the client uses only the shape of the newest version. */
export interface VersionRules {
  /** Amounts are decimals in major units, not integers in minor units. */
  readonly decimalAmounts: boolean;
  /** The token and the CVV are at the root of the body instead of in `payment_method`. */
  readonly tokenAtRoot: boolean;
  /** `token_type` is called `type`, and the object has no other `type`. */
  readonly tokenTypeIsType: boolean;
  /** Country codes are ISO 3166-1 alpha-2 instead of alpha-3. */
  readonly shortCountries: boolean;
  /** Shape of `three_d_secure_attributes`. */
  readonly threeDSecure: 'flat' | 'nested';
  /** HTTP status for "the provider could not be reached". */
  readonly providerAwayStatus: 503 | 504;
}

const SINCE_1_1_0: VersionRules = {
  decimalAmounts: false,
  tokenAtRoot: false,
  tokenTypeIsType: false,
  shortCountries: false,
  threeDSecure: 'flat',
  providerAwayStatus: 503,
};

export const VERSION_RULES: Readonly<Record<ApiVersion, VersionRules>> = {
  '1.0.0': {
    decimalAmounts: true,
    tokenAtRoot: true,
    tokenTypeIsType: true,
    shortCountries: true,
    threeDSecure: 'flat',
    providerAwayStatus: 504,
  },
  '1.1.0': SINCE_1_1_0,
  '1.2.0': SINCE_1_1_0,
  '1.3.0': { ...SINCE_1_1_0, threeDSecure: 'nested' },
};

/** Whether `version` is `since` or later. */
export function isSince(version: ApiVersion, since: ApiVersion): boolean {
  return API_VERSIONS.indexOf(version) >= API_VERSIONS.indexOf(since);
}

/** Caches one value per version, because building a schema costs far more than using it. */
export function perVersion<T>(make: (rules: VersionRules, version: ApiVersion) => T): (version: ApiVersion) => T {
  const made = new Map<ApiVersion, T>();
  return (version) => {
    const known = made.get(version);
    if (known !== undefined) return known;
    const fresh = make(VERSION_RULES[version], version);
    made.set(version, fresh);
    return fresh;
  };
}
