import { DEFAULT_UNIT, HOSTILE_PROFILES, type SandboxControl, type UnitView } from '../../src/sandbox/control.js';
import type { Profiles } from './arguments.js';

/** A business unit of the sandbox, as worker, webhook handler and sandbox have to know it. */
export interface ProfileUnit {
  /** What a charge gives as its `businessUnit`. */
  readonly name: string;
  readonly appId: string;
  readonly privateKey: string;
  readonly publicKey: string;
  /** What its service does otherwise than the default. */
  readonly profile: Partial<UnitView['profile']>;
}

export const PLAIN_UNIT: ProfileUnit = { name: 'default', ...DEFAULT_UNIT, profile: {} };

/** One unit for each hostile profile, named after it. Their keys are worth nothing outside of the sandbox. */
export const HOSTILE_UNITS: readonly ProfileUnit[] = Object.entries(HOSTILE_PROFILES).map(([name, profile]) => ({
  name,
  appId: `holdfast-sandbox-${name}`,
  privateKey: `sandbox-private-key-${name}`,
  publicKey: `sandbox-public-key-${name}`,
  profile,
}));

export function unitsOf(profiles: Profiles): readonly ProfileUnit[] {
  return profiles === 'all' ? [PLAIN_UNIT, ...HOSTILE_UNITS] : [PLAIN_UNIT];
}

/** Its events name no flow, so that its pending charges end by polls alone. */
export function namesNoFlow({ profile }: ProfileUnit): boolean {
  return profile.echo_reconciliation_id === false;
}

/** Value of `HOLDFAST_BUSINESS_UNITS` for these units. */
export function businessUnitsSetting(units: readonly ProfileUnit[]): string {
  const entries = units.map(({ name, appId, privateKey, publicKey }) => [name, { appId, privateKey, publicKey }]);
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
