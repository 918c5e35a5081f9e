/**
 * Plants the faults of `test/mutants/faults/` one by one in a copy of the tree, and says which test notices each:
 * `npm run mutants`, `npm run mutants -- NAME...` for some, `-- --list`, `-- --named` to run only the tests that a fault
 * names, and `-- --stryker [options]` for StrykerJS over the pure code. See docs/proof.md.
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { plantAll } from './runner/plant-all.mjs';
import { ensureReady } from '../../tools/setup.mjs';
import { chooseSeed } from '../../tools/tests/seed.mjs';
import { rootDir } from '../../tools/setup/paths.mjs';
import { exitWithReason, SetUpError } from '../../tools/setup/set-up-error.mjs';

const args = process.argv.slice(2);
// The copy in which faults are planted has no git to choose one by, and all its runs must see the same samples.
process.env.HOLDFAST_SEED = chooseSeed();
try {
  const need = args.includes('--list') ? [] : ['packages'];
  await ensureReady({ need });
  if (args[0] === '--stryker') process.exitCode = runStryker(args.slice(1));
  else process.exitCode = await runFaults(args);
} catch (error) {
  exitWithReason(error);
}

async function runFaults(options) {
  const { FAULTS } = await import('./faults/index.mjs');
  const names = options.filter((option) => !option.startsWith('--'));
  const unknown = [
    ...names.filter((name) => !FAULTS.some((fault) => fault.name === name)),
    ...options.filter((option) => option.startsWith('--') && option !== '--list' && option !== '--named'),
  ];
  if (unknown.length > 0) throw new SetUpError(`No such fault or option: ${unknown.join(', ')}`);
  const chosen = names.length === 0 ? FAULTS : FAULTS.filter(({ name }) => names.includes(name));
  if (options.includes('--list')) {
    for (const { name, rule, promise, file } of chosen) console.log(`${name} (${rule}; ${file})\n  ${promise}`);
    console.log(`${chosen.length} faults`);
    return 0;
  }
  return await plantAll(chosen, { namedOnly: options.includes('--named') });
}

function runStryker(options) {
  const cli = join(rootDir, 'node_modules', '@stryker-mutator', 'core', 'bin', 'stryker.js');
  if (!existsSync(cli)) throw new SetUpError('StrykerJS is not installed: npm ci');
  // StrykerJS passes over a test file that can't be loaded, and takes what only that file tests for untested.
  const vitest = join(rootDir, 'node_modules', 'vitest', 'vitest.mjs');
  const passes = [vitest, 'run', '--config', 'test/mutants/stryker-vitest.config.mjs', '--reporter=dot'];
  if (nodeStatus(passes) !== 0) throw new SetUpError('The tests must pass before anything is changed');
  return nodeStatus([cli, 'run', 'test/mutants/stryker.config.mjs', ...options]);
}

function nodeStatus(args) {
  return spawnSync(process.execPath, args, { cwd: rootDir, stdio: 'inherit' }).status ?? 1;
}
