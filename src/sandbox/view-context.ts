import type { Sandbox } from './context.js';
import type { BusinessUnit, JsonObject } from './records.js';
import type { VersionRules } from './versions.js';

/** What a resource looks like on the wire. Times are epoch milliseconds as strings, links are absolute. */
export interface ViewContext {
  sandbox: Sandbox;
  unit: BusinessUnit;
  rules: VersionRules;
}

export function withoutUndefined(view: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(view).filter(([, value]) => value !== undefined));
}
