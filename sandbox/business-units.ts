import { createHash, randomBytes } from 'node:crypto';
import type { BusinessUnit, Profile } from './records.js';

export const DEFAULT_UNIT = {
  appId: 'holdfast-sandbox',
  privateKey: 'sandbox-private-key',
  publicKey: 'sandbox-public-key',
} as const;

/** The service as documented or observed; where nothing is known, the most likely behaviour. */
export const DEFAULT_PROFILE: Profile = {
  key_scope: 'path',
  state_checks: 'after_key_lookup',
  same_key_in_flight: 'wait',
  list_lag_ms: 0,
  reads_lag_ms: 0,
  echo_reconciliation_id: true,
  echo_additional_details: true,
  replay_network_errors: false,
  provider_errors: 'replayed',
  sums: 'unchecked',
  expired_hold: 'voids_payment',
  reauthorization: 'refused',
  second_charge: 'refused',
  beside_pending: 'refused',
  partial_capture_void: 'refused',
  pending_void: 'refused',
  consent_ids: 'unchecked',
  consent_id_field: 'network_transaction_id',
  repeated_payment: 'by_version',
  reading: 'observed',
  offers: 'all',
};

/**
 * Units that each differ from the default in one open question about the service. Other values of a profile have tests of
 * their own, in which the unit of a test is changed.
 */
export const HOSTILE_PROFILES: Readonly<Record<string, Partial<Profile>>> = {
  'keys-per-unit': { key_scope: 'unit' },
  'checks-before-keys': { state_checks: 'before_key_lookup' },
  'conflict-in-flight': { same_key_in_flight: 'conflict' },
  'lagging-lists': { list_lag_ms: 30_000 },
  'lagging-reads': { reads_lag_ms: 30_000 },
  'silent-reconciliation': { echo_reconciliation_id: false },
  'silent-details': { echo_additional_details: false },
  'replayed-network-errors': { replay_network_errors: true },
  'provider-errors-asked-again': { provider_errors: 'asked_again' },
  'strict-sums': { sums: 'strict' },
  'silent-holds': { expired_hold: 'fails_capture' },
  reauthorizing: { reauthorization: 'allowed' },
  'second-charges': { second_charge: 'allowed' },
  'refunds-beside-pending': { beside_pending: 'allowed' },
  'voids-after-capture': { partial_capture_void: 'allowed' },
  'voids-of-pending': { pending_void: 'allowed' },
  'strict-consents': { consent_ids: 'strict' },
  'renamed-consents': { consent_id_field: 'scheme_reference' },
  'updated-payments': { repeated_payment: 'updates' },
  'interface-reading': { reading: 'interface' },
  'interface-only': { offers: 'interface' },
};

export interface UnitRequest {
  appId: string;
  privateKey?: string | undefined;
  publicKey?: string | undefined;
  accountId?: string | undefined;
  saqD?: boolean | undefined;
  profile?: { [Name in keyof Profile]?: Profile[Name] | undefined } | undefined;
}

/** Returns a new unit, or an existing one with the named fields replaced. Keys that are not given are random. */
export function businessUnit(request: UnitRequest, before: BusinessUnit | undefined, now: number): BusinessUnit {
  return {
    appId: request.appId,
    privateKey: request.privateKey ?? before?.privateKey ?? randomBytes(24).toString('base64url'),
    publicKey: request.publicKey ?? before?.publicKey ?? randomBytes(24).toString('base64url'),
    accountId: request.accountId ?? before?.accountId ?? stableUuid(`account:${request.appId}`),
    providerConfigurationId: before?.providerConfigurationId ?? stableUuid(`provider:${request.appId}`),
    created: before?.created ?? now,
    saqD: request.saqD ?? before?.saqD ?? false,
    profile: { ...(before?.profile ?? DEFAULT_PROFILE), ...withoutUndefined(request.profile ?? {}) },
  };
}

/** The same UUID for the same name, so that a unit keeps its ids through a reset. */
function stableUuid(name: string): string {
  const hex = createHash('sha256').update(name).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function withoutUndefined(profile: NonNullable<UnitRequest['profile']>): Partial<Profile> {
  return Object.fromEntries(Object.entries(profile).filter(([, value]) => value !== undefined));
}
