import { createHash } from 'node:crypto';
import { appendFileSync, existsSync, readdirSync, readFileSync } from 'node:fs';

const FOLDER = new URL('./', import.meta.url);
/** A line `<sha256>  <path>` for each recording, as `sha256sum` writes them. */
const MANIFEST = new URL('./recordings.sha256', import.meta.url);

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

export function readManifest(): string {
  return existsSync(MANIFEST) ? readFileSync(MANIFEST, 'utf8') : '';
}

/** @returns the checksum of each recording, by path */
export function checksumsOfRecordings(): Map<string, string> {
  const checksums = new Map<string, string>();
  for (const folder of ['histories', 'local-activities']) {
    const files = readdirSync(new URL(`${folder}/`, FOLDER)).filter((file) => file.endsWith('.json'));
    for (const file of files.toSorted()) {
      const path = `${folder}/${file}`;
      checksums.set(
        path,
        createHash('sha256')
          .update(readFileSync(new URL(path, FOLDER)))
          .digest('hex'),
      );
    }
  }
  return checksums;
}

/** Writes down the recordings that are new; one that has changed is for a person to explain. */
export function noteNewRecordings(): void {
  const known = readManifest();
  for (const [path, checksum] of checksumsOfRecordings()) {
    if (!known.includes(`  ${path}\n`)) appendFileSync(MANIFEST, `${checksum}  ${path}\n`);
  }
}
