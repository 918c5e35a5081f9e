/**
 * Lays out what each image holds: `node tools/image-layout.mjs [FOLDER]`, after a build. The packages are those that the
 * image's programs need, as they are installed here, with the native code of this platform alone, and none for musl,
 * since the images are Debian's. Of `dist` it takes no source maps, which hold the sources.
 */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { distDir, rootDir } from './setup/paths.mjs';
import { shippedPackages } from './setup/shipped-packages.mjs';

const { dependencies, peerDependencies } = JSON.parse(readFileSync(join(rootDir, 'package.json'), 'utf8'));
const common = Object.keys(dependencies);

/** `libsql` keeps the sandbox's state; the other peers are those of workers. */
const IMAGES = {
  runtime: {
    packages: [...common, ...Object.keys(peerDependencies).filter((name) => name !== 'libsql')],
    dist: ['src', 'activities', 'workers', 'workflows', 'workflow-bundle.js'],
  },
  sandbox: {
    packages: [...common, 'libsql'],
    dist: ['src', 'sandbox', 'tools/demo/one-payment.js'],
  },
};
const FILES = ['package.json', 'LICENSE', 'deploy/ready.sh'];

const installed = JSON.parse(readFileSync(join(rootDir, 'node_modules', '.package-lock.json'), 'utf8'));
// npm's own list leaves out the root, from which the search begins.
const lock = { packages: { '': {}, ...installed.packages } };
const corePlatform = `${{ x64: 'x86_64', arm64: 'aarch64' }[process.arch]}-unknown-linux-gnu`;
const [target = join(rootDir, 'image')] = process.argv.slice(2);

for (const [name, { packages, dist }] of Object.entries(IMAGES)) {
  const folder = join(target, name);
  rmSync(folder, { recursive: true, force: true });
  const paths = [...shippedPackages(lock, packages)].filter((path) => !path.endsWith('-musl'));
  for (const path of paths) copy(join(rootDir, path), join(folder, path), ofThisPlatform);
  for (const path of dist) copy(join(distDir, path), join(folder, 'dist', path), isCode);
  for (const path of FILES) copy(join(rootDir, path), join(folder, path));
}

function copy(from, to, filter) {
  if (!existsSync(from)) return;
  mkdirSync(dirname(to), { recursive: true });
  cpSync(from, to, { recursive: true, ...(filter && { filter }) });
}

function isCode(path) {
  return !/\.(map|d\.ts)$|\.build-stamp$/.test(path);
}

/** The SDK's package brings its native core for five platforms, and the core's sources. Images run on Linux. */
function ofThisPlatform(path) {
  if (/core-bridge\/(sdk-core|src)$/.test(path)) return false;
  const [, platform = corePlatform] = /core-bridge\/releases\/([^/]+)$/.exec(path) ?? [];
  return platform === corePlatform;
}
