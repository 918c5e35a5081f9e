import type { Sandbox } from './context.js';
import type { BusinessUnit, JsonObject } from './records.js';
import type { VersionRules } from './versions.js';

/** What a resource looks like on the wire. Times are epoch milliseconds as strings, links are absolute. */
export interface ViewContext {
  sandbox: Sandbox;
  unit: BusinessUnit;
  rules: VersionRules;
}

/** The interface names no `additional_details` but those of a risk analysis. */
export function echoesDetails({ profile }: BusinessUnit): boolean {
  return profile.echo_additional_details && profile.offers === 'all';
}

export function withoutUndefined(view: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(view).filter(([, value]) => value !== undefined));
}
