import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rootDir } from './setup/paths.mjs';
import { shippedPackages } from './setup/shipped-packages.mjs';

const PERMISSIVE = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'Python-2.0',
  'Unlicense',
  'Zlib',
]);

/** Packages whose licence a person has checked, and why it is fine. Exact versions: a new one is checked again. */
const READ_BY_HAND = {
  'unionfs@4.6.0': 'Unlicense in its LICENSE file; package.json names none',
};

/** Data, not code. The licence requires only attribution. */
const DATA_LICENCES = { 'caniuse-lite': 'CC-BY-4.0' };

/**
 * Packages that a user gets, of the entries with optional peers too, whose licence is unknown or not permissive. Uses
 * the lock file, because `npm sbom --omit dev` leaves out packages that development packages need too.
 */
export function licenceFaults(lock, licenceOfInstalled) {
  const { dependencies = {}, peerDependencies = {} } = lock.packages[''] ?? {};
  return [...shippedPackages(lock, [...Object.keys(dependencies), ...Object.keys(peerDependencies)])]
    .map((path) => [path, lock.packages[path]])
    .flatMap(([path, entry]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      const licence = entry.license ?? licenceOfInstalled(path);
      if (READ_BY_HAND[`${name}@${entry.version}`]) return [];
      if (licence !== undefined && (isPermissive(licence) || DATA_LICENCES[name] === licence)) return [];
      return [`${name}@${entry.version}: licence ${licence ?? 'unknown'} is not on the list of permissive ones`];
    });
}

/** Accepts SPDX expressions without nested parentheses: every part of an AND must be permissive, any part of an OR. */
function isPermissive(expression) {
  return expression
    .replace(/^\(|\)$/g, '')
    .split(/ OR /)
    .some((option) => option.split(/ AND /).every((part) => PERMISSIVE.has(part.replace(/[()]/g, '').trim())));
}

function installedLicence(path) {
  const manifest = join(rootDir, path, 'package.json');
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, 'utf8')).license : undefined;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const lock = JSON.parse(readFileSync(join(rootDir, 'package-lock.json'), 'utf8'));
  const faults = licenceFaults(lock, installedLicence);
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length === 0 ? 0 : 1;
}
