import { setTimeout as sleep } from 'node:timers/promises';
import { isGrpcServiceError, type Client, type Connection } from '@temporalio/client';
import { msToTs } from '@temporalio/common/lib/time.js';
import { NAMESPACE_CACHE_MS } from '../../stack/dev-server-args.js';
import { prepareNamespace, RETENTION_DAYS } from '../../stack/namespace.js';

const ALREADY_EXISTS = 6;

/** Creates the namespace if it doesn't exist. Resolves when it can be used. */
export async function provideNamespace(connection: Connection, namespace: string): Promise<void> {
  try {
    const workflowExecutionRetentionPeriod = msToTs(`${RETENTION_DAYS} days`);
    await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
    await sleep(NAMESPACE_CACHE_MS);
  } catch (error) {
    if (!isGrpcServiceError(error) || Number(error.code) !== ALREADY_EXISTS) throw error;
  }
  await prepareNamespace(connection, namespace);
}

/** Terminates flows that an aborted demo has left open. Their service has stopped, so they could not end otherwise. */
export async function endOrphans({ workflow }: Client): Promise<void> {
  for await (const { workflowId } of workflow.list({ query: 'ExecutionStatus = "Running"' })) {
    const reason = 'The embedded sandbox of the demo, where its money was held, is gone';
    await workflow
      .getHandle(workflowId)
      .terminate(reason)
      .catch(() => undefined);
  }
}
