import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { SEARCH_ATTRIBUTES } from '../../src/contract/names.js';
import { NAMESPACE_CACHE_MS } from './dev-server.js';

/** A reference is unique only as long as the namespace keeps closed flows. */
export const RETENTION_DAYS = 365;
const DAY_SECONDS = 86_400;

/** Values of the API's `IndexedValueType`. */
const TYPE_NUMBERS = { KEYWORD: 2, INT: 3, BOOL: 5, DATETIME: 6 } as const;

type SearchAttributes = Readonly<Record<string, number | null>>;

/** The namespace can't be used as it is. */
class NamespaceError extends Error {
  override readonly name = 'NamespaceError';
}

export interface PreparedNamespace {
  /** Resolves when a changed retention applies to every flow that closes from then on. */
  effective: Promise<void>;
}

/**
 * Registers missing search attributes and raises the retention to 365 days.
 * @throws NamespaceError if an attribute exists with another type
 */
export async function prepareNamespace(connection: Connection, namespace: string): Promise<PreparedNamespace> {
  const [retentionChanged] = await Promise.all([
    raiseRetention(connection, namespace),
    listSearchAttributes(connection, namespace).then((found) => addSearchAttributes(connection, namespace, found)),
  ]);
  return { effective: retentionChanged ? sleep(NAMESPACE_CACHE_MS) : Promise.resolve() };
}

/** Days for which the namespace keeps closed flows. */
export async function retentionDays(connection: Connection, namespace: string): Promise<number> {
  const { config } = await connection.workflowService.describeNamespace({ namespace });
  return Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / DAY_SECONDS;
}

async function raiseRetention(connection: Connection, namespace: string): Promise<boolean> {
  if ((await retentionDays(connection, namespace)) >= RETENTION_DAYS) return false;
  await connection.workflowService.updateNamespace({
    namespace,
    config: { workflowExecutionRetentionTtl: msToTs(`${RETENTION_DAYS} days`) },
  });
  if ((await retentionDays(connection, namespace)) < RETENTION_DAYS) {
    throw new NamespaceError(`Namespace ${namespace} did not take a retention of ${RETENTION_DAYS} days.`);
  }
  return true;
}

async function listSearchAttributes(connection: Connection, namespace: string): Promise<SearchAttributes> {
  return (await connection.operatorService.listSearchAttributes({ namespace })).customAttributes ?? {};
}

/**
 * Registers the search attributes that are not registered yet.
 * @throws NamespaceError if one is registered with another type
 */
export async function addSearchAttributes(
  connection: Connection,
  namespace: string,
  registered: SearchAttributes = {},
): Promise<void> {
  const missing: Record<string, number> = {};
  const faults: string[] = [];
  for (const [name, type] of Object.entries(SEARCH_ATTRIBUTES)) {
    const wanted: number = TYPE_NUMBERS[type];
    const found = registered[name];
    if (found === undefined || found === null) missing[name] = wanted;
    else if (found !== wanted) faults.push(`search attribute ${name} exists with another type than ${type}`);
  }
  if (faults.length > 0) throw new NamespaceError(`Namespace ${namespace}: ${faults.join('; ')}`);
  if (Object.keys(missing).length === 0) return;
  await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: missing });
}
