import { FLOWS } from '../contract/flows.js';

const PREFIXES: ReadonlyMap<string, string> = new Map(
  Object.values(FLOWS).map(({ type, idPrefix }) => [type, idPrefix]),
);

/**
 * The reference of a flow: that of the merchant, or the payment's or transaction's id where the flow is named after
 * it. A flow whose id has no known form is known by the whole of it.
 */
export function referenceOf(workflowId: string, type: string): string {
  const prefix = PREFIXES.get(type) ?? FLOWS.charge.idPrefix;
  return workflowId.startsWith(prefix) ? workflowId.slice(prefix.length) : workflowId;
}

/** The workflow ids that a person may mean by a name, the likeliest first. */
export function candidateIds(name: string): string[] {
  return [name, ...[...new Set(PREFIXES.values())].map((prefix) => `${prefix}${name}`)];
}
