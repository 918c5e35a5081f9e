import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { devServerArgs } from '../../tools/stack/dev-server-args.js';
import { withParentDeathSignal } from '../../tools/stack/parent-death.js';
import { freePort } from '../../tools/stack/ports.js';
import { connectWhenReady } from '../../tools/stack/temporal-ready.js';
import { SEARCH_ATTRIBUTES } from '../../src/contract/search-attributes.js';
import { temporalCliPath } from './temporal.js';

const NAMESPACE = 'crash';
const START_LIMIT_MS = 60_000;

/** A Temporal server of one's own, with the settings of `npm start`, to be killed: its database outlives it. */
export interface CrashEngine {
  readonly address: string;
  readonly namespace: string;
  /** SIGKILL. Resolves when the process is gone. */
  kill(): Promise<void>;
  /** Over the same database, at the same address. Resolves when it serves. */
  start(): Promise<void>;
  /** Ends it and throws its database away. */
  close(): Promise<void>;
}

export async function startCrashEngine(): Promise<CrashEngine> {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-crash-'));
  const port = await freePort();
  const address = `127.0.0.1:${port}`;
  const { command, args } = withParentDeathSignal(
    temporalCliPath(),
    devServerArgs({
      ip: '127.0.0.1',
      port,
      databasePath: join(folder, 'temporal.db'),
      namespaces: [NAMESPACE],
      searchAttributes: SEARCH_ATTRIBUTES,
    }),
  );
  let server: ChildProcess;

  const start = async (): Promise<void> => {
    // A process group of its own, as every server of the tests.
    server = spawn(command, args, { detached: true, stdio: ['ignore', 'ignore', 'pipe'] });
    let log = '';
    server.stderr?.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-4_000)));
    const begun = Date.now();
    const connection = await connectWhenReady(address, NAMESPACE, () => {
      if (server.exitCode === null && Date.now() - begun < START_LIMIT_MS) return;
      server.kill('SIGKILL');
      throw new Error(`The Temporal server did not start:\n${log}`);
    });
    await connection.close();
  };
  const kill = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const gone = once(server, 'exit');
    server.kill('SIGKILL');
    await gone;
  };
  await start();
  return {
    address,
    namespace: NAMESPACE,
    kill,
    start,
    async close() {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
