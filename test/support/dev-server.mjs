import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const START_LIMIT_MS = 60_000;
const ATTEMPTS = 4;

/**
 * Starts one Temporal dev server with the settings of `npm start`, its database in `folder`.
 * It leads a process group of its own, so that tests which kill whole groups of theirs never hit it.
 */
export async function startDevServer(options) {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await startOnFreePorts(options);
    } catch (error) {
      if (!(error instanceof EndedEarly) || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Of itself it ends where another process has taken one of its ports since they were found free. */
class EndedEarly extends Error {}

async function startOnFreePorts({ executable, folder, namespaces }) {
  // Only after the build: this file must load on a clone that has no `dist/` yet.
  const { devServerArgs } = await import('../../dist/tools/stack/dev-server-args.js');
  const { freePort } = await import('../../dist/tools/stack/ports.js');
  const { connectWhenReady } = await import('../../dist/tools/stack/temporal-ready.js');
  const { withParentDeathSignal } = await import('../../dist/tools/stack/parent-death.js');
  const { SEARCH_ATTRIBUTES } = await import('../../dist/src/contract/search-attributes.js');

  const port = await freePort();
  const logPath = join(folder, `temporal-${port}.log`);
  const databasePath = join(folder, `temporal-${port}.db`);
  const { command, args } = withParentDeathSignal(
    executable,
    devServerArgs({ ip: '127.0.0.1', port, databasePath, namespaces, searchAttributes: SEARCH_ATTRIBUTES }),
  );
  const log = openSync(logPath, 'a');
  const child = spawn(command, args, { detached: true, stdio: ['ignore', log, log] });
  closeSync(log);
  child.unref();

  const address = `127.0.0.1:${port}`;
  const started = Date.now();
  const connection = await connectWhenReady(address, namespaces.at(-1), () => {
    if (child.exitCode === null && child.signalCode === null && Date.now() - started < START_LIMIT_MS) return;
    const ended = child.exitCode !== null || child.signalCode !== null;
    child.kill('SIGKILL');
    // A panic says why in its first lines.
    const reason = `The Temporal dev server did not start:\n${readFileSync(logPath, 'utf8').slice(0, 2000)}`;
    throw ended ? new EndedEarly(reason) : new Error(reason);
  });
  await connection.close();
  return { address, pid: child.pid };
}

/** Ends the server without a good-bye, as its data is thrown away. False when there is none any more. */
export function endServer(pid) {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}
