import { SandboxControl } from '../../sandbox/control.js';
import { loadPart } from '../../src/config/optional-packages.js';

export interface SandboxForTests {
  /** For HOLDFAST_API_BASE_URL. */
  readonly url: string;
  /** Plants faults, moves its clock, reads its ledger, and makes cards into tokens. */
  readonly control: SandboxControl;
  close(): Promise<void>;
}

/**
 * Starts the payment sandbox in this process, on a free port of 127.0.0.1. It keeps everything in memory.
 * @param options.webhookUrl where it sends the events of its default business unit. Default: nowhere
 * @throws MissingPackageError without the package of its storage
 */
export async function startSandboxForTests(options: { webhookUrl?: string } = {}): Promise<SandboxForTests> {
  const { createSandbox } = await loadPart('holdfast/testing', ['libsql'], () => import('../../sandbox/server.js'));
  const sandbox = createSandbox(options);
  try {
    const url = await sandbox.app.listen({ host: '127.0.0.1', port: 0 });
    sandbox.resume(url);
    return { url, control: new SandboxControl(url), close: () => sandbox.close() };
  } catch (error) {
    await sandbox.close();
    throw error;
  }
}
