import { DEFAULT_UNIT, HOSTILE_PROFILES, type SandboxControl, type UnitView } from '../../sandbox/control.js';

export const PROFILES = ['default', 'all'] as const;
/** Only the documented service, or all profiles of the sandbox by turns. */
export type Profiles = (typeof PROFILES)[number];

/** A business unit of the sandbox, as configured in the worker, the webhook handler and the sandbox. */
export interface ProfileUnit {
  /** `businessUnit` in the input of a flow. */
  readonly name: string;
  readonly appId: string;
  readonly privateKey: string;
  readonly publicKey: string;
  /** Differences of its service from the default. */
  readonly profile: Partial<UnitView['profile']>;
  /** Assumed duration of a hold at its provider. Default: a week. */
  readonly holdDuration?: string;
  /** Field in which its provider returns consent ids, by provider name. */
  readonly consentIdFields?: Readonly<Record<string, string>>;
  /** Set if a void after a partial capture is known not to cancel the capture at its provider. */
  readonly voidAfterPartialCapture?: boolean;
  /** Reads that its service offers, if limited. Default: all. */
  readonly reads?: 'interface';
  /** Unit under which a payment with risk analysis is created. */
  readonly riskUnit?: string;
  /** What it sends to cards before another person approves it, in minor units by currency. */
  readonly outgoing?: {
    readonly perCall: Readonly<Record<string, number>>;
    readonly perDay: Readonly<Record<string, number>>;
  };
}

export const PLAIN_UNIT: ProfileUnit = { name: 'default', ...DEFAULT_UNIT, profile: {} };

/** One unit per hostile profile, with its name. The keys are valid only in the sandbox. */
export const HOSTILE_UNITS: readonly ProfileUnit[] = Object.entries(HOSTILE_PROFILES).map(([name, profile]) => ({
  name,
  appId: `holdfast-sandbox-${name}`,
  privateKey: `sandbox-private-key-${name}`,
  publicKey: `sandbox-public-key-${name}`,
  profile,
  ...(profile.consent_id_field !== undefined && { consentIdFields: { MockProcessor: profile.consent_id_field } }),
  ...(profile.partial_capture_void === 'allowed' && { voidAfterPartialCapture: true }),
  ...(profile.offers === 'interface' && { reads: 'interface' as const }),
}));

/**
 * `all` excludes the service with only its interface's reads: operators settle there what reads prove elsewhere. And the one
 * whose reads lag: commands are refused there until reads show what they follow, which no scenario expects.
 */
export function unitsOf(profiles: Profiles): readonly ProfileUnit[] {
  const isExcluded = (unit: ProfileUnit): boolean => offersNoReads(unit) || readsLag(unit);
  return profiles === 'all' ? [PLAIN_UNIT, ...HOSTILE_UNITS.filter((unit) => !isExcluded(unit))] : [PLAIN_UNIT];
}

/** Includes that service too, for runs with an operator. */
export function unitsWithOperator(profiles: Profiles): readonly ProfileUnit[] {
  return profiles === 'all' ? [...unitsOf('all'), ...HOSTILE_UNITS.filter(offersNoReads)] : unitsOf(profiles);
}

/** The service offers only its interface's reads, so operators settle what reads prove elsewhere. */
export function offersNoReads({ profile }: ProfileUnit): boolean {
  return profile.offers === 'interface';
}

/** Neither a payment nor a transaction by its id shows what has just been done. */
export function readsLag({ profile }: ProfileUnit): boolean {
  return profile.reads_lag_ms !== undefined;
}

/** The same service, but flows assume holds so short that a run sees them end. The sandbox itself holds for a week. */
export function briefTwin(
  { name, appId, publicKey, privateKey, profile, reads, voidAfterPartialCapture }: ProfileUnit,
  holdDuration: string,
): ProfileUnit {
  return {
    name: `${name}-brief`,
    appId: `${appId}-brief`,
    privateKey: `${privateKey}-brief`,
    publicKey: `${publicKey}-brief`,
    profile,
    ...(reads !== undefined && { reads }),
    holdDuration,
    ...(voidAfterPartialCapture !== undefined && { voidAfterPartialCapture }),
  };
}

const QUICK_LAG_MS = 5_000;

/** The same unit, but its lists and reads lag by a few seconds at most. */
export function withQuickLists(unit: ProfileUnit): ProfileUnit {
  const { list_lag_ms: lists, reads_lag_ms: reads } = unit.profile;
  const quick = {
    ...(lists !== undefined && { list_lag_ms: QUICK_LAG_MS }),
    ...(reads !== undefined && { reads_lag_ms: QUICK_LAG_MS }),
  };
  return { ...unit, profile: { ...unit.profile, ...quick } };
}

/** A unit that every flow can use: payments with risk analysis are created under the unit itself. */
export function withRisk(unit: ProfileUnit): ProfileUnit {
  return { ...unit, riskUnit: unit.name };
}

/** The unit's events carry no reference, so their flow has to be looked up at the service. */
export function namesNoFlow({ profile }: ProfileUnit): boolean {
  return profile.echo_reconciliation_id === false;
}

/** The service does not say which flow made a payment. */
export function namesNoOwner(unit: ProfileUnit): boolean {
  return unit.profile.echo_additional_details === false || offersNoReads(unit);
}

/** Headers of another program that calls the service with the unit's credentials. */
export function headersOf({ appId, privateKey }: Pick<ProfileUnit, 'appId' | 'privateKey'>): Record<string, string> {
  return {
    'content-type': 'application/json',
    'app-id': appId,
    'private-key': privateKey,
    'x-svc-env': 'test',
    'api-version': '1.3.0',
  };
}

/** Value of `HOLDFAST_BUSINESS_UNITS` for these units. */
export function businessUnitsSetting(units: readonly ProfileUnit[]): string {
  const entries = units.map(({ name, profile: _profile, ...unit }) => [name, unit]);
  return JSON.stringify(Object.fromEntries(entries));
}

/**
 * Registers the units with the sandbox, and their events with `webhookUrl` if given. The default unit is skipped,
 * because the sandbox has it and its endpoint from the start.
 */
export async function addUnits(
  sandbox: SandboxControl,
  units: readonly ProfileUnit[],
  webhookUrl: string | undefined,
): Promise<void> {
  const added = units.filter(({ appId }) => appId !== DEFAULT_UNIT.appId);
  for (const { appId, privateKey, publicKey, profile } of added) {
    await sandbox.putBusinessUnit({ app_id: appId, private_key: privateKey, public_key: publicKey, profile });
  }
  if (webhookUrl === undefined || added.length === 0) return;
  await sandbox.addWebhookEndpoint({ url: webhookUrl, app_ids: added.map(({ appId }) => appId) });
}
