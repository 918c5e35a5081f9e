import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rootDir } from './setup/paths.mjs';

const EXACT = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$/;
const GROUPS = ['dependencies', 'devDependencies', 'optionalDependencies'];

/**
 * Faults of `package.json` and its lock file: each installed package must have an exact version and a hash, whatever
 * registry it comes from.
 */
export function lockFaults(manifest, lock) {
  return [
    ...versionFaults(manifest),
    ...agreementFaults(manifest, lock),
    ...entryFaults(lock),
    ...temporalFaults(lock),
  ];
}

function versionFaults(manifest) {
  return GROUPS.flatMap((group) => Object.entries(manifest[group] ?? {}))
    .concat(Object.entries(manifest.overrides ?? {}))
    .filter(([, version]) => typeof version !== 'string' || !EXACT.test(version))
    .map(([name, version]) => `package.json: ${name} is "${version}": name one exact version`);
}

function agreementFaults(manifest, lock) {
  const root = lock.packages[''] ?? {};
  return GROUPS.flatMap((group) => {
    const names = new Set([...Object.keys(manifest[group] ?? {}), ...Object.keys(root[group] ?? {})]);
    return [...names].flatMap((name) => {
      const wanted = manifest[group]?.[name];
      const locked = root[group]?.[name];
      const installed = lock.packages[`node_modules/${name}`]?.version;
      if (wanted !== locked) return [`${name}: package.json says ${wanted}, the lock file's copy of it ${locked}`];
      return wanted === installed ? [] : [`${name}: package.json says ${wanted}, the lock file installs ${installed}`];
    });
  });
}

function entryFaults(lock) {
  return Object.entries(lock.packages)
    .filter(([path]) => path !== '')
    .flatMap(([path, entry]) => [
      ...(entry.resolved === undefined ? [] : [`${path}: "resolved" ties the lock file to one registry`]),
      ...(entry.integrity?.startsWith('sha512-') ? [] : [`${path}: has no sha512 integrity`]),
      ...(entry.link ? [`${path}: is a link`] : []),
    ]);
}

/** Two versions of the SDK, or of its protobuf library, break replay and the decoding of histories. */
function temporalFaults(lock) {
  const versions = new Set();
  const faults = [];
  for (const [path, entry] of Object.entries(lock.packages)) {
    if (/(^|\/)node_modules\/@temporalio\/[^/]+$/.test(path)) versions.add(entry.version);
    if (/node_modules\/@temporalio\/[^/]+\/node_modules\/protobufjs$/.test(path)) {
      faults.push(`${path}: a second protobufjs ${entry.version} beside the one in package.json`);
    }
  }
  if (versions.size > 1) faults.push(`@temporalio packages of several versions: ${[...versions].sort().join(', ')}`);
  return faults;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const read = (folder, name) => JSON.parse(readFileSync(join(rootDir, folder, name), 'utf8'));
  const faults = ['.', 'tools/pinned/dbos'].flatMap((folder) =>
    lockFaults(read(folder, 'package.json'), read(folder, 'package-lock.json')).map((fault) => `${folder}: ${fault}`),
  );
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
