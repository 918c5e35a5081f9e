import type { Sandbox } from './context.js';
import type { BusinessUnit, JsonObject } from './records.js';
import type { VersionRules } from './versions.js';

/** Context for showing resources in answers. Times are epoch milliseconds as strings, links are absolute. */
export interface ViewContext {
  sandbox: Sandbox;
  unit: BusinessUnit;
  rules: VersionRules;
}

/** The interface description has `additional_details` only for risk analyses. */
export function echoesDetails({ profile }: BusinessUnit): boolean {
  return profile.echo_additional_details && profile.offers === 'all';
}

export function withoutUndefined(view: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(view).filter(([, value]) => value !== undefined));
}

/** Returns the `modified` time of a resource that changes now: always later than before, even within one ms. */
export function modifiedAfter(before: { modified: number }, { clock }: Sandbox): number {
  return Math.max(clock.now(), before.modified + 1);
}
