import { FLOWS } from '../contract/flows.js';

const PREFIXES: ReadonlyMap<string, string> = new Map(
  Object.values(FLOWS).map(({ type, idPrefix }) => [type, idPrefix]),
);

/**
 * The reference of a flow: the caller's reference, or the payment or transaction id that the workflow id contains.
 * For a workflow id of unknown form, the whole id.
 */
export function referenceOf(workflowId: string, type: string): string {
  const prefix = PREFIXES.get(type) ?? FLOWS.charge.idPrefix;
  return workflowId.startsWith(prefix) ? workflowId.slice(prefix.length) : workflowId;
}

/** The workflow ids that a name can stand for, most likely first. */
export function candidateIds(name: string): string[] {
  return [name, ...[...new Set(PREFIXES.values())].map((prefix) => `${prefix}${name}`)];
}
