import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withProgress } from './progress.mjs';
import { rootDir } from './paths.mjs';
import { lastLines, runCommand } from './run-command.mjs';
import { SetUpError } from './set-up-error.mjs';

/**
 * True when `node_modules` holds what `package-lock.json` asks for.
 * npm writes `node_modules/.package-lock.json` as the last step of an install, so an interrupted one is noticed.
 * @public a test imports it in a process of its own
 */
export function packagesAreInstalled(root = rootDir) {
  const installedPath = join(root, 'node_modules', '.package-lock.json');
  if (!existsSync(installedPath)) return false;
  let wanted;
  let installed;
  try {
    wanted = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
    installed = JSON.parse(readFileSync(installedPath, 'utf8')).packages;
  } catch {
    return false;
  }
  const same = (path) =>
    wanted[path]?.version === installed[path]?.version && wanted[path]?.integrity === installed[path]?.integrity;
  // What is optional (binaries of other platforms) may be absent, here or in the lock; what is in both must agree.
  return (
    Object.keys(wanted).every((path) => path === '' || (installed[path] ? same(path) : isOptional(wanted[path]))) &&
    Object.keys(installed).every((path) => wanted[path] !== undefined || isOptional(installed[path]))
  );
}

function isOptional(entry) {
  return entry.optional === true || entry.devOptional === true;
}

/**
 * Installs what the lock file names, if that is not what is there, and leaves the lock file as it is.
 * Not `npm ci`: that refuses a lock file which does not list the optional binaries of every platform, while this takes
 * one for the platform at hand by the exact version that its owner asks for. All that the lock file names is installed
 * in its version and checked against its hash.
 */
export async function ensurePackages() {
  if (packagesAreInstalled()) return;
  await withProgress('Installing packages (npm install)', async () => {
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    const args = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
    const result = await runCommand(npm, args, { cwd: rootDir, show: true });
    if (!result.ok) {
      throw new SetUpError(
        `npm install failed:\n${lastLines(result.output, 8)}\nRun it by itself to see more: npm install --no-save`,
      );
    }
    if (!packagesAreInstalled()) {
      throw new SetUpError(
        'npm install ended well, yet node_modules is not what package-lock.json says: do they agree with package.json?',
      );
    }
  });
}
