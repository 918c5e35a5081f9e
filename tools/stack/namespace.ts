import type { Connection } from '@temporalio/client';
import { RETENTION_DAYS, setUpNamespace } from '../../src/client/set-up-namespace.js';

/** The namespace can't be used as it is. */
class NamespaceError extends Error {
  override readonly name = 'NamespaceError';
}

/**
 * What `holdfast setup` does, for a stack of the embedded mode or of tests, which is always one for test.
 * @returns whether anything has changed: the server's parts see that a moment later
 * @throws NamespaceError with every fault that is left
 */
export async function prepareNamespace(connection: Connection, namespace: string): Promise<boolean> {
  const { changed, faults } = await setUpNamespace(connection, namespace, 'test', RETENTION_DAYS);
  if (faults.length > 0) throw new NamespaceError(faults.join('\n'));
  return changed.length > 0;
}
