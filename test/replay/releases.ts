import { existsSync, readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { PRESENT } from './golden.js';

/** A folder of recordings for each version that was released. `npm run release:check` writes one, and looks at others. */
const RELEASES =
  process.env['HOLDFAST_RELEASES'] === undefined
    ? new URL('releases/', PRESENT)
    : pathToFileURL(`${process.env['HOLDFAST_RELEASES']}/`);

/** @returns the versions whose histories are kept */
export function releasedVersions(): string[] {
  return existsSync(RELEASES) ? readdirSync(RELEASES).toSorted() : [];
}

export function recordingsOf(version: string): URL {
  return new URL(`${version}/`, RELEASES);
}

/**
 * What has happened to the recordings of a release since they were made. Flows in production go on from such histories, so
 * no reason is good enough to make one again: each file has one line, and no line says why it has another.
 */
export function alterations(manifest: string, checksums: ReadonlyMap<string, string>): string[] {
  const lines = manifest.split('\n').filter((line) => line !== '');
  const recorded = new Map(lines.map((line) => line.split('  ', 2).toReversed() as [string, string]));
  const paths = new Set([...recorded.keys(), ...checksums.keys()]);
  const altered = [...paths].filter((path) => recorded.get(path) !== checksums.get(path));
  return [
    ...(recorded.size === 0 ? ['it has no recordings.sha256'] : []),
    ...(recorded.size < lines.length ? ['recordings.sha256 has two lines for one file'] : []),
    ...altered.map((path) => `${path} is not what was recorded: put it back from version control`),
  ];
}
