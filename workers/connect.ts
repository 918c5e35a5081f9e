import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import proto from '@temporalio/proto';
import { NativeConnection } from '@temporalio/worker';
import {
  engineAddress,
  ENVIRONMENT_DATA,
  otherEnvironment,
  sayIfOther,
  type Environment,
} from '../src/client/connect.js';
import { SEARCH_ATTRIBUTES } from '../src/contract/names.js';
import type { Logger } from '../src/security/logging.js';
import { StartFault } from './process.js';

const RETRY_MS = 2_000;

export interface EngineConnections {
  native: NativeConnection;
  client: Client;
  connection: Connection;
  close(): Promise<void>;
}

/**
 * Connects to Temporal by Temporal's own environment configuration. Retries until that succeeds, since the engine may
 * start after the worker.
 */
export async function connectEngine(
  dataConverter: DataConverter,
  logger: Logger,
  stopping: AbortSignal,
): Promise<EngineConnections> {
  const { connectionOptions, namespace } = engineAddress();
  for (;;) {
    stopping.throwIfAborted();
    try {
      const native = await NativeConnection.connect(connectionOptions);
      const connection = await Connection.connect(connectionOptions);
      const client = new Client({ connection, dataConverter, namespace });
      return {
        native,
        client,
        connection,
        close: async () => {
          await native.close();
          await connection.close();
        },
      };
    } catch (err) {
      logger.warn({ err, address: connectionOptions.address }, 'Temporal is not there yet; trying again');
      await sleep(RETRY_MS, undefined, { signal: stopping });
    }
  }
}

const { IndexedValueType } = proto.temporal.api.enums.v1;
const DAY_S = 86_400;
/** Money rule 1: a reference stays unique only as long as the namespace keeps closed flows. */
const MIN_LIVE_RETENTION_DAYS = 30;
const ENVIRONMENT_WITHIN_MS = 2_000;

/**
 * Refuses to serve a namespace of the other environment, or one that can't keep the guarantees: a search attribute has
 * the wrong type or is missing and can't be registered, or (live) the retention is too short to keep references unique.
 * @throws StartFault
 */
export async function checkNamespace(
  connection: Connection,
  namespace: string,
  environment: Environment,
  logger: Logger,
): Promise<void> {
  const { config, namespaceInfo } = await connection.workflowService.describeNamespace({ namespace });
  const marked = namespaceInfo?.data?.[ENVIRONMENT_DATA];
  // A worker with the credentials of one environment would answer flows of the other one wrongly.
  const other = sayIfOther(namespace, marked, environment);
  if (other !== undefined) throw new StartFault(other);
  const days = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0) / DAY_S;
  if (environment === 'live' && days < MIN_LIVE_RETENTION_DAYS) {
    throw new StartFault(
      `namespace "${namespace}" keeps closed flows for ${days} days only: a reference used again after that would be ` +
        `charged again. Set its retention to at least ${MIN_LIVE_RETENTION_DAYS} days (365 is what npm start sets).`,
    );
  }
  if (days < MIN_LIVE_RETENTION_DAYS)
    logger.warn({ days }, 'The namespace forgets closed flows soon: fine for tests only');
  await ensureSearchAttributes(connection, namespace);
  if (marked === undefined) await mark(connection, namespace, environment, logger);
}

/**
 * For the webhook handler. If Temporal is unreachable, the handler starts, and its sink checks with the first event.
 * @throws StartFault for a namespace of the other environment
 */
export async function checkEnvironment({ connection, options }: Client, environment: Environment): Promise<void> {
  const ask = () => otherEnvironment(connection, options.namespace, environment);
  const other = await connection.withDeadline(Date.now() + ENVIRONMENT_WITHIN_MS, ask).catch(() => undefined);
  if (other !== undefined) throw new StartFault(other);
}

/** Marks the namespace before any work is taken. Without permission it warns: test and live are not kept apart. */
async function mark(connection: Connection, namespace: string, environment: string, logger: Logger): Promise<void> {
  try {
    await connection.workflowService.updateNamespace({
      namespace,
      updateInfo: { data: { [ENVIRONMENT_DATA]: environment } },
    });
  } catch (error) {
    logger.warn(
      { err: error },
      'The namespace could not be marked with its environment: nothing keeps test and live apart',
    );
  }
}

async function ensureSearchAttributes(connection: Connection, namespace: string): Promise<void> {
  const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace });
  const missing: Record<string, number> = {};
  const faults: string[] = [];
  for (const [name, type] of Object.entries(SEARCH_ATTRIBUTES)) {
    const wanted = IndexedValueType[`INDEXED_VALUE_TYPE_${type}`];
    const present = customAttributes?.[name];
    if (present === undefined) missing[name] = wanted;
    else if (present !== wanted) faults.push(`search attribute ${name} must be of type ${type}`);
  }
  if (faults.length > 0) throw new StartFault(`namespace "${namespace}": ${faults.join('; ')}`);
  if (Object.keys(missing).length === 0) return;
  try {
    await connection.operatorService.addSearchAttributes({ namespace, searchAttributes: missing });
  } catch (error) {
    const commands = Object.keys(missing).map(
      (name) =>
        `temporal operator search-attribute create --namespace ${namespace} --name ${name} --type ${cliType(name)}`,
    );
    const reason = error instanceof Error ? error.message : String(error);
    throw new StartFault(
      `namespace "${namespace}" lacks search attributes, and they could not be registered (${reason}). Register them:\n` +
        commands.join('\n'),
    );
  }
}

function cliType(name: string): string {
  const type = SEARCH_ATTRIBUTES[name as keyof typeof SEARCH_ATTRIBUTES];
  return type.charAt(0) + type.slice(1).toLowerCase();
}
