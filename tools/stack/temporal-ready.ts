import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';

const ATTEMPT_MS = 1_000;
const PAUSE_MS = 50;

/**
 * Waits until the server at `address` answers for `namespace` and returns the open connection.
 * `stop` is asked between attempts; what it returns or throws ends the waiting (throw to give up).
 */
export async function connectWhenReady(address: string, namespace: string, stop: () => void): Promise<Connection> {
  const connection = Connection.lazy({ address });
  for (;;) {
    stop();
    try {
      await connection.withDeadline(Date.now() + ATTEMPT_MS, () =>
        connection.workflowService.describeNamespace({ namespace }),
      );
      return connection;
    } catch {
      // Not there yet; the caller's `stop` decides when that is too long.
      await sleep(PAUSE_MS);
    }
  }
}
