const FIRST = 'holdfast-test';
const DAY_SECONDS = 86_400;

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
    /** One that no other caller gets, with all search attributes registered. */
    async claim() {
      count += 1;
      const namespace = `${FIRST}-${count}`;
      // As the development server makes them.
      const workflowExecutionRetentionPeriod = { seconds: DAY_SECONDS };
      await connection.workflowService.registerNamespace({ namespace, workflowExecutionRetentionPeriod });
      // Only now: this file must load on a clone that has no `dist/` yet.
      const { addSearchAttributes } = await import('../../dist/tools/stack/namespace.js');
      await addSearchAttributes(connection, namespace);
      return namespace;
    },
    close: () => connection?.close(),
  };
}
