import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { cacheDir } from '../../tools/setup/paths.mjs';
import { run, runOrThrow } from './run.mjs';

/** Kept over runs. */
export const rigCache = () => join(cacheDir(), 'rig');

/** Of Node 24, which the Dockerfile names. */
const LIBRARIES = [
  { source: '/usr/lib/x86_64-linux-gnu', target: '/usr/lib/x86_64-linux-gnu' },
  { source: '/usr/lib64', target: '/usr/lib64' },
];

/**
 * Makes a folder of the cache once: `fill` writes into a folder beside it, which is renamed when it is whole.
 * @returns its path
 */
export async function cached(name, fill) {
  const path = join(rigCache(), name);
  if (existsSync(path)) return path;
  mkdirSync(dirname(path), { recursive: true });
  const next = mkdtempSync(`${path}.next-`);
  try {
    chmodSync(next, 0o755);
    await fill(next);
    renameSync(next, path);
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
  return path;
}

/** The folders that every image has, its users, and `/bin` and `/lib` as links. */
export function layOutRoot(root, users = {}) {
  for (const path of ['usr/bin', 'usr/sbin', 'usr/lib', 'usr/local/bin', 'etc', 'var', 'run', 'tmp', 'home'])
    mkdirSync(join(root, path), { recursive: true });
  for (const name of ['bin', 'sbin', 'lib', 'lib64'])
    if (!existsSync(join(root, name))) symlinkSync(`usr/${name}`, join(root, name));
  if (!existsSync(join(root, 'var/run'))) symlinkSync('../run', join(root, 'var/run'));
  const all = Object.entries({ root: 0, ...users });
  const passwd = all.map(([name, id]) => `${name}:x:${id}:${id}::/:/bin/sh\n`);
  writeFileSync(join(root, 'etc/passwd'), passwd.join(''));
  writeFileSync(join(root, 'etc/group'), all.map(([name, id]) => `${name}:x:${id}:\n`).join(''));
  writeFileSync(join(root, 'etc/nsswitch.conf'), 'passwd: files\ngroup: files\nhosts: files dns\n');
}

/** Debian 12 as its small images have it: the programs of this machine's essential packages and their libraries, no other. */
export async function debian() {
  const folder = await cached('debian-12', async (next) => {
    const list = await runOrThrow('dpkg-query', ['-W', '-f', '${Essential} ${Package}\n']);
    const packages = list.split('\n').flatMap((line) => /^yes (\S+)$/.exec(line)?.[1] ?? []);
    const files = (await runOrThrow('dpkg', ['-L', ...packages])).split('\n');
    copyPrograms(next, [
      ...files.filter((path) => /^(\/usr)?\/s?bin\/[^/]+$/.test(path)),
      '/usr/bin/sh',
      '/usr/bin/perl',
    ]);
  });
  return [...LIBRARIES, ...binsOf(folder)];
}

/**
 * Alpine as its image has it: busybox and getent. Busybox is Debian's, so its programs differ from Alpine's in detail,
 * and libraries are glibc's.
 * @param extra programs that an image adds, taken from this machine
 */
export async function alpine(extra = []) {
  const folder = await cached(['alpine', ...extra.map((path) => basename(path))].join('-'), async (next) => {
    const archive = mkdtempSync('/tmp/holdfast-busybox-');
    try {
      const options = ['-o', 'APT::Sandbox::User=root'];
      const fetched = await run('apt-get', [...options, 'download', 'busybox'], { cwd: archive });
      if (fetched.code !== 0) throw new Error(`apt-get download busybox: ${fetched.output.trim()}`);
      const [deb] = readdirSync(archive).filter((name) => name.endsWith('.deb'));
      await runOrThrow('dpkg', ['-x', join(archive, deb), archive]);
      const busybox = join(archive, existsSync(join(archive, 'bin/busybox')) ? 'bin/busybox' : 'usr/bin/busybox');
      copyPrograms(next, [busybox, '/usr/bin/getent', ...extra]);
    } finally {
      rmSync(archive, { recursive: true, force: true });
    }
    const applets = (await runOrThrow(join(next, 'usr/bin/busybox'), ['--list'])).trim().split('\n');
    for (const applet of applets)
      if (!existsSync(join(next, 'usr/bin', applet))) symlinkSync('busybox', join(next, 'usr/bin', applet));
  });
  return [...LIBRARIES, ...binsOf(folder)];
}

function copyPrograms(folder, paths) {
  for (const name of ['usr/bin', 'usr/sbin']) mkdirSync(join(folder, name), { recursive: true });
  for (const path of new Set(paths)) {
    if (!existsSync(path)) continue;
    const target = join(folder, path.includes('/sbin/') ? 'usr/sbin' : 'usr/bin', basename(path));
    // Through links, since what they lead to may be outside.
    copyFileSync(path, target);
    chmodSync(target, 0o755);
  }
}

function binsOf(folder) {
  return ['/usr/bin', '/usr/sbin'].map((target) => ({ source: join(folder, target), target }));
}

/** @returns the first line of a file that says what this machine is */
export function machineName() {
  const text = existsSync('/etc/os-release') ? readFileSync('/etc/os-release', 'utf8') : '';
  return /^PRETTY_NAME="(.*)"$/m.exec(text)?.[1] ?? 'unknown';
}
