import { z } from 'zod';
import { invalidRequest } from './api-error.js';
import type { TokenState } from './records.js';

/**
 * Everything that differs between API versions, in one place: handlers and views ask these rules and never look
 * at a version string. Version 1.0.0 (decimals, token fields at the body's root, two-letter countries) is not
 * emulated yet; it becomes one more row here, with the amount functions below doing its decimals.
 */
export interface VersionRules {
  version: ApiVersion;
  /** State of a token made at this version. */
  newTokenState: TokenState;
  /** Whether a token shows its state. */
  showsTokenState: boolean;
  threeDSecureAttributes: z.ZodType<Record<string, unknown>>;
}

export type ApiVersion = '1.1.0' | '1.2.0' | '1.3.0';

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

export const VERSIONS: Readonly<Record<ApiVersion, VersionRules>> = {
  '1.1.0': {
    version: '1.1.0',
    newTokenState: 'valid',
    showsTokenState: false,
    threeDSecureAttributes: flatThreeDSecure,
  },
  '1.2.0': {
    version: '1.2.0',
    newTokenState: 'created',
    showsTokenState: true,
    threeDSecureAttributes: flatThreeDSecure,
  },
  '1.3.0': {
    version: '1.3.0',
    newTokenState: 'created',
    showsTokenState: true,
    threeDSecureAttributes: nestedThreeDSecure,
  },
};

/** The rules a request asks for. A missing header means 1.0.0 by the documentation, so it is refused as that is. */
export function versionRules(header: string | undefined): VersionRules {
  const rules = Object.hasOwn(VERSIONS, header ?? '') ? VERSIONS[header as ApiVersion] : undefined;
  if (rules === undefined) throw invalidRequest('API version is not supported');
  return rules;
}

/** An amount as the wire has it, to minor units. */
export function amountSchema(_rules: VersionRules): z.ZodType<number> {
  return z.int().positive();
}

/** Minor units to what the wire has. */
export function showAmount(_rules: VersionRules, minorUnits: number): number {
  return minorUnits;
}

/** Builds a schema once for each version: building one costs more than a whole request. */
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
