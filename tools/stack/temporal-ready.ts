import { setTimeout as sleep } from 'node:timers/promises';
import { Connection } from '@temporalio/client';

const ATTEMPT_MS = 1_000;
const PAUSE_MS = 50;

/**
 * Waits until the server at `address` answers for `namespace`, and returns the open connection.
 * @param stop called before each attempt; throw in it to give up
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
      // The server is not ready yet. `stop` limits the wait.
      await sleep(PAUSE_MS);
    }
  }
}
