import { z } from 'zod';
import { invalidRequest } from './api-error.js';
import type { TokenState } from './records.js';

/**
 * Everything that differs between API versions, in one place: handlers and views read these rules and never compare
 * version strings.
 */
export interface VersionRules {
  version: ApiVersion;
  /** Amounts are decimals in major units. */
  decimalAmounts: boolean;
  /** Token and CVV are at the body's root, and a token's `token_type` is still called `type`. */
  tokenAtRoot: boolean;
  /** Length of the ISO 3166-1 country codes in answers. */
  countryLength: 2 | 3;
  /** Status for an unreachable provider; older versions use another one. */
  unreachableStatus: 503 | 504;
  /** Uses the caller's IP address as the customer's if `x-client-ip-address` is missing. */
  substitutesIpAddress: boolean;
  /** Cards can be stored with customers. */
  storesCards: boolean;
  /** State of a token created at this version. */
  newTokenState: TokenState;
  /** Whether a token shows its state. */
  showsTokenState: boolean;
  /** `POST /payments` under a used key replaces the payment's content; later versions repeat the first answer. */
  repeatUpdatesPayment: boolean;
  threeDSecureAttributes: z.ZodType<Record<string, unknown>>;
}

export const API_VERSIONS = ['1.0.0', '1.1.0', '1.2.0', '1.3.0'] as const;
export type ApiVersion = (typeof API_VERSIONS)[number];

const flatThreeDSecure = z.looseObject({
  encoding: z.string().optional(),
  xid: z.string().optional(),
  cavv: z.string().optional(),
  eci_flag: z.string().optional(),
});

const nestedThreeDSecure = z.strictObject({
  external: z.record(z.string(), z.string()).optional(),
  internal: z.looseObject({}).optional(),
  sca_exemptions: z.looseObject({ exemption_action: z.boolean().optional() }).optional(),
});

const V1_1: Omit<VersionRules, 'version'> = {
  decimalAmounts: false,
  tokenAtRoot: false,
  countryLength: 3,
  unreachableStatus: 503,
  substitutesIpAddress: false,
  storesCards: false,
  newTokenState: 'valid',
  showsTokenState: false,
  repeatUpdatesPayment: true,
  threeDSecureAttributes: flatThreeDSecure,
};
const V1_0: Omit<VersionRules, 'version'> = {
  ...V1_1,
  decimalAmounts: true,
  tokenAtRoot: true,
  countryLength: 2,
  unreachableStatus: 504,
  substitutesIpAddress: true,
};
const V1_2: Omit<VersionRules, 'version'> = {
  ...V1_1,
  storesCards: true,
  newTokenState: 'created',
  showsTokenState: true,
};

export const VERSIONS: Readonly<Record<ApiVersion, VersionRules>> = {
  '1.0.0': { ...V1_0, version: '1.0.0' },
  '1.1.0': { ...V1_1, version: '1.1.0' },
  '1.2.0': { ...V1_2, version: '1.2.0' },
  '1.3.0': {
    ...V1_2,
    version: '1.3.0',
    repeatUpdatesPayment: false,
    threeDSecureAttributes: nestedThreeDSecure,
  },
};

/** Returns the rules of the requested version, 1.0.0 without the header; undefined for an unknown version. */
export function versionRules(header: string | undefined): VersionRules | undefined {
  const version = header ?? '1.0.0';
  return Object.hasOwn(VERSIONS, version) ? VERSIONS[version as ApiVersion] : undefined;
}

/** Refuses an operation that only later versions have. */
export function requireVersion(rules: VersionRules, since: ApiVersion | undefined): void {
  if (since !== undefined && API_VERSIONS.indexOf(rules.version) < API_VERSIONS.indexOf(since)) {
    throw invalidRequest('API version is not supported');
  }
}

/** Builds a schema once per version: building one costs more than serving a request. */
export function perVersion<T>(build: (rules: VersionRules) => T): (rules: VersionRules) => T {
  const built = new Map<ApiVersion, T>();
  return (rules) => {
    const known = built.get(rules.version);
    if (known !== undefined) return known;
    const schema = build(rules);
    built.set(rules.version, schema);
    return schema;
  };
}
