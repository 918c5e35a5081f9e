import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { rootDir } from '../../../tools/setup/paths.mjs';
import { lastLines, runCommand } from '../../../tools/setup/run-command.mjs';
import { SetUpError } from '../../../tools/setup/set-up-error.mjs';
import { isPure } from './pure-tests.mjs';

/**
 * A copy of the working tree, changes that are not committed included, in which faults may be planted: the tree itself
 * is never touched. Packages are linked.
 */
export function copyTree() {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-mutants-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  process.once('exit', remove);
  for (const file of listFiles()) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(rootDir, file), join(folder, file));
  }
  symlinkSync(join(rootDir, 'node_modules'), join(folder, 'node_modules'));
  if (existsSync(join(rootDir, 'dist'))) cpSync(join(rootDir, 'dist'), join(folder, 'dist'), { recursive: true });
  return {
    folder,

    /** Plants a fault; the function it returns takes it away again, and does nothing when called once more. */
    replace({ file, from, to }) {
      const path = join(folder, file);
      const before = readFileSync(path, 'utf8');
      writeFileSync(
        path,
        before.replace(from, () => to),
      );
      return () => writeFileSync(path, before);
    },

    /**
     * Builds `dist/` from the sources as they are, where one of these tests uses it. Types are not checked: a compiler
     * that notices a fault is no test. Returns why it could not be built.
     */
    async buildIfNeeded(tests) {
      if (tests.every(isPure)) return undefined;
      const call = "import('./tools/setup/build.mjs').then((build) => build.ensureBuild({ checkTypes: false }))";
      const { ok, output } = await runCommand(process.execPath, ['-e', call], { cwd: folder });
      return ok ? undefined : lastLines(output, 3);
    },

    remove,
  };
}

function listFiles() {
  const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
  const { status, stdout } = spawnSync('git', list, { cwd: rootDir, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (status !== 0) throw new SetUpError('Faults are planted in a copy of what git lists here, and git lists nothing.');
  return stdout.split('\0').filter((file) => file !== '' && existsSync(join(rootDir, file)));
}
