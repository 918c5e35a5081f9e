import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withProgress } from './progress.mjs';
import { rootDir } from './paths.mjs';
import { lastLines, runCommand } from './run-command.mjs';
import { SetUpError } from './set-up-error.mjs';

/**
 * True if `node_modules` matches `package-lock.json`.
 * npm writes `node_modules/.package-lock.json` as the last step of an install, so an interrupted install is detected.
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
  // Optional packages (binaries of other platforms) may be missing here or in the lock file. Those in both must agree.
  return (
    Object.keys(wanted).every((path) => path === '' || (installed[path] ? same(path) : isOptional(wanted[path]))) &&
    Object.keys(installed).every((path) => wanted[path] !== undefined || isOptional(installed[path]))
  );
}

function isOptional(entry) {
  return entry.optional === true || entry.devOptional === true;
}

/**
 * Installs the packages of the lock file if they are not in place, and leaves the lock file unchanged.
 * Does not use `npm ci`, which refuses a lock file that lacks the optional binaries of some platforms. `npm install`
 * adds the one for this platform in the exact version that its owner requires. Everything that the lock file names is
 * installed in that version and checked against its hash.
 */
export async function ensurePackages(root = rootDir) {
  if (packagesAreInstalled(root)) return;
  await withProgress('Installing packages (npm install)', async () => {
    const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
    // With NODE_ENV=production npm leaves out what the build needs.
    const args = ['install', '--include=dev', '--no-save', '--no-audit', '--no-fund', '--loglevel=error'];
    const result = await runCommand(npm, args, { cwd: root, show: true });
    if (!result.ok) {
      throw new SetUpError(
        `npm install failed:\n${lastLines(result.output, 8)}\nRun it by itself to see more: npm install --include=dev --no-save`,
      );
    }
    if (!packagesAreInstalled(root)) {
      throw new SetUpError(
        'npm install ended well, yet node_modules is not what package-lock.json says: do they agree with package.json?',
      );
    }
  });
}
