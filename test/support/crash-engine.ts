import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DevServer, startDevServer } from '../../tools/stack/dev-server.js';
import { temporalCliPath } from './temporal.js';

const NAMESPACE = 'crash';

/** A Temporal server of one's own, to be killed: its database outlives it. */
export interface CrashEngine extends Pick<DevServer, 'address' | 'kill' | 'start'> {
  readonly namespace: string;
  /** Ends it and throws its database away. */
  close(): Promise<void>;
}

export async function startCrashEngine(): Promise<CrashEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-crash-'));
  const server = await startDevServer({ executable: temporalCliPath(), folder, namespaces: [NAMESPACE] });
  return {
    ...server,
    namespace: NAMESPACE,
    async close() {
      await server.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
