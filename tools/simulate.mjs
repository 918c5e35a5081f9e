/**
 * Runs flows of every type on virtual time with faults from a seed, then the ledger audit. The same seed and number
 * repeat the run: `npm run simulate -- --flows 5000 --seed 7`. `--only <number>` shows the steps of one flow.
 */
import { fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { loadSource } from './load-source.mjs';
import { exitWithReason } from './setup/set-up-error.mjs';
import { ensureReady } from './setup.mjs';

const load = async () => await loadSource('/test/simulation/campaign/main.ts');

/** Runs one share of the flows in another process. */
function elsewhere(options, index, of) {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), { env: { ...process.env, HOLDFAST_SHARE: '1' } });
    child.once('message', resolve);
    child.once('exit', (code) =>
      reject(new Error(`A process of the simulation ended with ${code} before it was done`)),
    );
    child.send({ ...options, share: { index, of } });
  });
}

if (process.env.HOLDFAST_SHARE === '1') {
  const answer = async (options) => {
    const { simulate } = await load();
    process.send(await simulate(options), () => process.exit(0));
  };
  process.once('message', (options) => void answer(options));
} else {
  try {
    await ensureReady({ need: ['packages', 'build'], tolerateTypeErrors: true });
    const { readArguments, simulate, report } = await load();
    const { processes, ...options } = readArguments(process.argv.slice(2));
    const shares = Array.from({ length: processes }, (_, index) => index);
    const parts =
      processes === 1
        ? [await simulate(options)]
        : await Promise.all(shares.map((index) => elsewhere(options, index, processes)));
    const { lines, isGreen } = report(parts, options);
    for (const line of lines) console.log(line);
    process.exit(isGreen ? 0 : 1);
  } catch (error) {
    exitWithReason(error);
  }
}
