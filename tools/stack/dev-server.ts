import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SEARCH_ATTRIBUTES } from '../../src/contract/search-attributes.js';
import { devServerArgs } from './dev-server-args.js';
import { withParentDeathSignal } from './parent-death.js';
import { freePort } from './ports.js';
import { connectWhenReady } from './temporal-ready.js';

const START_LIMIT_MS = 60_000;
const ATTEMPTS = 4;

export interface DevServerOptions {
  /** Path of the Temporal CLI. */
  executable: string;
  /** Where the database and the log go. */
  folder: string;
  /** At least one. */
  namespaces: readonly string[];
  /** Changes the arguments of `npm start`. */
  adjust?: (args: readonly string[]) => readonly string[];
}

export interface DevServer {
  readonly address: string;
  /** SIGKILL. Resolves when the process is gone. */
  kill(): Promise<void>;
  /** SIGKILL without waiting, as a last resort. */
  killNow(): void;
  /** Over the same database, at the same address. Resolves when it serves. */
  start(): Promise<void>;
}

/**
 * Starts a Temporal dev server with the settings of `npm start` on a free port. It leads a process group of its own, so
 * nothing that kills whole groups hits it, and ends with the process that started it.
 */
export async function startDevServer(options: DevServerOptions): Promise<DevServer> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOn(await freePort(), options);
    } catch (error) {
      if (!(error instanceof EndedEarly) || attempt === ATTEMPTS) throw error;
    }
  }
}

/** It ends by itself if another process has taken one of its ports since they were found free. */
class EndedEarly extends Error {}

async function startOn(port: number, options: DevServerOptions): Promise<DevServer> {
  const { executable, folder, namespaces, adjust = (args) => args } = options;
  const address = `127.0.0.1:${port}`;
  const logPath = join(folder, `temporal-${port}.log`);
  const databasePath = join(folder, `temporal-${port}.db`);
  const settings = { ip: '127.0.0.1', port, databasePath, namespaces, searchAttributes: SEARCH_ATTRIBUTES };
  const { command, args } = withParentDeathSignal(executable, [...adjust(devServerArgs(settings))]);
  let child: ChildProcess;

  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  const start = async (): Promise<void> => {
    const log = openSync(logPath, 'a');
    child = spawn(command, args, { detached: true, stdio: ['ignore', log, log] });
    closeSync(log);
    child.unref();
    const begun = Date.now();
    const connection = await connectWhenReady(address, namespaces.at(-1) ?? 'default', () => {
      if (!hasEnded() && Date.now() - begun < START_LIMIT_MS) return;
      const ended = hasEnded();
      child.kill('SIGKILL');
      // A panic says why in its first lines.
      const reason = `The Temporal dev server did not start:\n${readFileSync(logPath, 'utf8').slice(0, 2000)}`;
      throw ended ? new EndedEarly(reason) : new Error(reason);
    });
    await connection.close();
  };
  await start();
  return {
    address,
    start,
    async kill() {
      if (hasEnded()) return;
      const gone = once(child, 'exit');
      child.ref();
      child.kill('SIGKILL');
      await gone;
    },
    killNow: () => void child.kill('SIGKILL'),
  };
}
