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
      await registerSearchAttributes(connection, namespace);
      return namespace;
    },
    close: () => connection?.close(),
  };
}

async function registerSearchAttributes(connection, namespace) {
  // Only now: this file must load on a clone that has no `dist/` yet.
  const { SEARCH_ATTRIBUTES } = await import('../../dist/src/contract/names.js');
  const { default: proto } = await import('@temporalio/proto');
  const types = proto.temporal.api.enums.v1.IndexedValueType;
  const searchAttributes = Object.fromEntries(
    Object.entries(SEARCH_ATTRIBUTES).map(([name, type]) => [name, types[`INDEXED_VALUE_TYPE_${type}`]]),
  );
  await connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
}
