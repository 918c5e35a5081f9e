const FIRST = 'holdfast-test';
const RETENTION_SECONDS = 365 * 86_400;

/** Namespaces of the shared server, made as they are asked for: each runs workers of the server's own. */
export function createNamespaces() {
  let connection;
  let count = 0;
  return {
    /** The server is not ready without one. Nobody gets it. */
    first: [FIRST],
    async connect(address) {
      const { Connection } = await import('@temporalio/client');
      connection = await Connection.connect({ address });
    },
    /** One that no other caller gets, set up as `holdfast setup` makes it. */
    async claim() {
      count += 1;
      const namespace = `${FIRST}-${count}`;
      // First, since a server remembers for a second that there was none when it was asked.
      const workflowExecutionRetentionPeriod = { seconds: RETENTION_SECONDS };
      await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
      // Only now: this file must load on a clone that has no `dist/` yet.
      const { prepareNamespace } = await import('../../dist/tools/stack/namespace.js');
      await prepareNamespace(connection, namespace);
      return namespace;
    },
    close: () => connection?.close(),
  };
}
