import { DEFAULT_UNIT, HOSTILE_PROFILES, type SandboxControl, type UnitView } from '../../sandbox/control.js';

export const PROFILES = ['default', 'all'] as const;
/** The service as it is documented, or by turns as every profile of the sandbox has it. */
export type Profiles = (typeof PROFILES)[number];

/** A business unit of the sandbox, as worker, webhook handler and sandbox have to know it. */
export interface ProfileUnit {
  /** What a charge gives as its `businessUnit`. */
  readonly name: string;
  readonly appId: string;
  readonly privateKey: string;
  readonly publicKey: string;
  /** What its service does otherwise than the default. */
  readonly profile: Partial<UnitView['profile']>;
  /** How long its provider is believed to hold an authorization. Default a week. */
  readonly holdDuration?: string;
  /** Where its provider puts consent ids, by the provider's name. */
  readonly consentIdFields?: Readonly<Record<string, string>>;
  /** Its provider's void after a partial capture is known to cancel no capture. */
  readonly voidAfterPartialCapture?: boolean;
  /** What its service lets be read, where that is said. Default: all. */
  readonly reads?: 'interface';
  /** Under which unit a payment is created that is to be risk-analysed. */
  readonly riskUnit?: string;
}

export const PLAIN_UNIT: ProfileUnit = { name: 'default', ...DEFAULT_UNIT, profile: {} };

/** One unit for each hostile profile, named after it. Their keys are worth nothing outside of the sandbox. */
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

/** Left out of `all` is a service with only what its interface names: operators end there what others prove by reading. */
export function unitsOf(profiles: Profiles): readonly ProfileUnit[] {
  return profiles === 'all' ? [PLAIN_UNIT, ...HOSTILE_UNITS.filter((unit) => !offersNoReads(unit))] : [PLAIN_UNIT];
}

/** With that one, where there is an operator. */
export function unitsWithOperator(profiles: Profiles): readonly ProfileUnit[] {
  return profiles === 'all' ? [...unitsOf('all'), ...HOSTILE_UNITS.filter(offersNoReads)] : unitsOf(profiles);
}

/** A service with only what its interface names: operators end what others prove by reading. */
export function offersNoReads({ profile }: ProfileUnit): boolean {
  return profile.offers === 'interface';
}

/** The same service with holds that end while a run can see it, as the flows believe; the sandbox holds for a week. */
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

/** The same, but that lists which lag do so for a few seconds only. */
export function withQuickLists(unit: ProfileUnit): ProfileUnit {
  if (unit.profile.list_lag_ms === undefined) return unit;
  return { ...unit, profile: { ...unit.profile, list_lag_ms: QUICK_LAG_MS } };
}

/** A unit as every flow can use it: its risk is analysed under itself. */
export function withRisk(unit: ProfileUnit): ProfileUnit {
  return { ...unit, riskUnit: unit.name };
}

/** Its events name no flow: the service has to be asked for the one that they belong to. */
export function namesNoFlow({ profile }: ProfileUnit): boolean {
  return profile.echo_reconciliation_id === false;
}

/** The service does not say which flow has made a payment. */
export function namesNoOwner(unit: ProfileUnit): boolean {
  return unit.profile.echo_additional_details === false || offersNoReads(unit);
}

/** Value of `HOLDFAST_BUSINESS_UNITS` for these units. */
export function businessUnitsSetting(units: readonly ProfileUnit[]): string {
  const entries = units.map(({ name, profile: _profile, ...unit }) => [name, unit]);
  return JSON.stringify(Object.fromEntries(entries));
}

/**
 * Makes the sandbox know the units, and send the events of each to `webhookUrl` if one is given. The default unit is
 * left as it is: the sandbox has it, and its endpoint, from the start.
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
