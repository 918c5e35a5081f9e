import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { PRESENT } from './golden.js';

/** A line `<sha256>  <path>` for each recording, as `sha256sum` writes them. */
const manifestOf = (folder: URL): URL => new URL('recordings.sha256', folder);

/**
 * What has happened to recordings without a word in the manifest. A history that is made again after the code has
 * changed proves nothing of that code, so each new checksum of an old path is a line of its own at the end, below a
 * comment that says why; the old line stays.
 *
 * @param manifest its text
 * @param checksums of the files that are there, by path
 */
export function unexplained(manifest: string, checksums: ReadonlyMap<string, string>): string[] {
  const complaints: string[] = [];
  const latest = new Map<string, string>();
  let above = '';
  for (const line of manifest.split('\n').filter((one) => one !== '')) {
    const [, checksum = '', path = ''] = /^([0-9a-f]{64}) {2}(\S+)$/.exec(line) ?? [];
    if (path === '' && !line.startsWith('# ')) complaints.push(`recordings.sha256: can't read ${line}`);
    if (latest.has(path) && !above.startsWith('# '))
      complaints.push(`${path} was recorded again, and no comment says why`);
    if (path !== '') latest.set(path, checksum);
    above = line;
  }
  for (const [path, checksum] of checksums) {
    if (!latest.has(path)) complaints.push(`${path} is not in recordings.sha256: npm run golden`);
    else if (latest.get(path) !== checksum) {
      complaints.push(`${path} has changed: recordings.sha256 needs "# why" and "${checksum}  ${path}" at its end`);
    }
  }
  for (const path of latest.keys()) if (!checksums.has(path)) complaints.push(`${path} is gone`);
  return complaints;
}

export function readManifest(folder = PRESENT): string {
  return existsSync(manifestOf(folder)) ? readFileSync(manifestOf(folder), 'utf8') : '';
}

/** @returns the checksum of each recording, by path */
export function checksumsOfRecordings(folder = PRESENT): Map<string, string> {
  const checksums = new Map<string, string>();
  for (const kind of ['histories', 'local-activities']) {
    const files = readdirSync(new URL(`${kind}/`, folder)).filter((file) => file.endsWith('.json'));
    for (const file of files.toSorted()) {
      const path = `${kind}/${file}`;
      const content = readFileSync(new URL(path, folder));
      checksums.set(path, createHash('sha256').update(content).digest('hex'));
    }
  }
  return checksums;
}

/** Writes down the recordings that are new; one that has changed is for a person to explain. */
export function noteNewRecordings(folder = PRESENT): void {
  const known = readManifest(folder);
  for (const [path, checksum] of checksumsOfRecordings(folder)) {
    if (!known.includes(`  ${path}\n`)) appendFileSync(manifestOf(folder), `${checksum}  ${path}\n`);
  }
}
