import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { ensureReady } from './setup.mjs';
import { distDir } from './setup/paths.mjs';
import { exitWithReason, SetUpError } from './setup/set-up-error.mjs';

const ENTRIES = {
  sandbox: 'sandbox/main.js',
  worker: 'workers/worker.js',
  webhook: 'workers/webhook.js',
  codec: 'workers/codec.js',
};

try {
  const [name, ...args] = process.argv.slice(2);
  const entry = ENTRIES[name];
  if (entry === undefined) throw new SetUpError(`There is no process "${name}": ${Object.keys(ENTRIES).join(', ')}`);
  await ensureReady({ need: ['packages', 'build'] });
  const child = spawn(process.execPath, [join(distDir, entry), ...args], { stdio: 'inherit' });
  // Ctrl-C reaches both processes. This one waits for the child, which stops gracefully.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  child.once('error', exitWithReason);
  child.once('exit', (code, signal) => process.exit(signal === null ? code : 1));
} catch (error) {
  exitWithReason(error);
}
