import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { SandboxControl } from '../../../sandbox/control.js';
import { HoldfastClient } from '../../../src/client/holdfast-client.js';
import { createDataConverter } from '../../../src/security/data-converter.js';
import { parseKeyRing } from '../../../src/security/key-ring.js';
import { PROGRAMS, startReadyProcess } from '../../stack/ready-process.js';
import { environmentOf, type Engine } from '../../stack/services.js';

/** Sandbox, worker and client beside a Temporal that runs already. */
export async function startBytesStack(engine: Engine) {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bytes-'));
  const keys = `bench:${randomBytes(32).toString('base64')}`;
  const own = {
    ...process.env,
    HOLDFAST_STATE_DIR: folder,
    HOLDFAST_ENCRYPTION_KEYS: keys,
    HOLDFAST_STOP_SECONDS: '5',
  };
  const env = environmentOf({ engine, stateDir: folder, env: own });
  const { url: sandboxUrl, ...sandbox } = await startReadyProcess(`dist/${PROGRAMS.sandbox}`, { env });
  const connection = await Connection.connect({ address: engine.address });
  const dataConverter = createDataConverter(parseKeyRing(keys));
  const client = new Client({ connection, namespace: engine.namespace, dataConverter });
  const all = { ...env, HOLDFAST_API_BASE_URL: sandboxUrl };
  const worker = await startReadyProcess(`dist/${PROGRAMS.worker}`, { env: all, showErrors: true });
  return {
    holdfast: new HoldfastClient(client),
    sandbox: new SandboxControl(sandboxUrl),
    async stop(): Promise<void> {
      await connection.close();
      await Promise.all([worker.kill(), sandbox.kill()]);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
